//! Results by the dotted names that they have in the JSON output.

use driftlock_sim::summary::Summary;
use serde_json::{Map, Value as Json};

/// A number and the half width of its 95% confidence interval.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub mean: f64,
    /// Zero if it is not known.
    pub ci95: f64,
}

impl Number {
    /// This by that; relative errors add up as independent ones do.
    pub(crate) fn over(self, other: Self) -> Self {
        let mean = self.mean / other.mean;
        let (a, b) = (self.ci95 / self.mean, other.ci95 / other.mean);
        Self { mean, ci95: mean * (a * a + b * b).sqrt() }
    }

    /// This by a number that is exact.
    pub(crate) fn by(self, divisor: f64) -> Self {
        Self { mean: self.mean / divisor, ci95: self.ci95 / divisor }
    }

    /// Below the limit by more than chance.
    pub(crate) fn is_below(self, limit: f64) -> bool {
        self.mean + self.ci95 < limit
    }

    /// Above the limit by more than chance.
    pub(crate) fn is_above(self, limit: f64) -> bool {
        self.mean - self.ci95 > limit
    }
}

/// The results of a simulation, or all that several simulations have.
#[derive(Default)]
pub(crate) struct Named(Map<String, Json>);

impl Named {
    pub(crate) fn of(summary: &Summary) -> Self {
        match serde_json::to_value(summary) {
            Ok(Json::Object(results)) => Self(results),
            _ => Self::default(),
        }
    }

    #[cfg(test)]
    pub(crate) fn from_json(json: &str) -> Self {
        Self(serde_json::from_str(json).unwrap())
    }

    /// All names that any of these has.
    pub(crate) fn union<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut union = Map::new();
        all.for_each(|named| add(&mut union, &named.0));
        Self(union)
    }

    /// The number of this name, which is not a number if nothing was counted, and its interval: `ci95` beside `mean`,
    /// else the name with `_ci95`.
    pub(crate) fn number(&self, name: &str) -> Option<Number> {
        let beside = name.strip_suffix(".mean");
        let interval = beside.map_or_else(|| format!("{name}_ci95"), |stem| format!("{stem}.ci95"));
        let ci95 = self.get(&interval).and_then(Json::as_f64).unwrap_or(0.0);
        match self.get(name)? {
            Json::Null => Some(Number { mean: f64::NAN, ci95 }),
            value => value.as_f64().map(|mean| Number { mean, ci95 }),
        }
    }

    /// The keys of the results that this name stands for.
    pub(crate) fn keys_of(&self, name: &str) -> Option<Vec<&str>> {
        let keys = self.get(name)?.as_object()?.keys();
        Some(keys.map(String::as_str).collect())
    }

    /// Why there is no number of this name, if there is none.
    pub(crate) fn why_no_number(&self, name: &str) -> Option<String> {
        match (self.number(name), self.keys_of(name)) {
            (Some(_), _) => None,
            (None, Some(keys)) => Some(format!("the result {name:?} is no number; it has {}", keys.join(", "))),
            (None, None) if self.get(name).is_some() => Some(format!("the result {name:?} is no number")),
            (None, None) => Some(self.unknown(name)),
        }
    }

    /// Why the name does not stand for results with keys, if it does not.
    pub(crate) fn why_no_keys(&self, name: &str) -> Option<String> {
        match (self.keys_of(name), self.get(name)) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(format!("the result {name:?} has no keys")),
            (None, None) => Some(self.unknown(name)),
        }
    }

    /// The sentence that says which names there are instead.
    fn unknown(&self, name: &str) -> String {
        let (mut known, mut level) = ("", &self.0);
        for (dot, _) in name.match_indices('.') {
            let Some(Json::Object(deeper)) = self.get(&name[..dot]) else { break };
            (known, level) = (&name[..dot], deeper);
        }
        let keys: Vec<&str> = level.keys().map(String::as_str).collect();
        let have = if known.is_empty() { "there are".to_owned() } else { format!("{known:?} has") };
        format!("there is no result {name:?}; {have} {}", keys.join(", "))
    }

    fn get(&self, name: &str) -> Option<&Json> {
        let mut parts = name.split('.');
        let first = self.0.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.as_object()?.get(part))
    }
}

fn add(union: &mut Map<String, Json>, more: &Map<String, Json>) {
    for (name, value) in more {
        match (union.get_mut(name), value) {
            (Some(Json::Object(known)), Json::Object(more)) => add(known, more),
            (Some(Json::Null) | None, value) => {
                union.insert(name.clone(), value.clone());
            }
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_interval_beside_it_and_a_plain_number_after_it() {
        let results = Named::from_json(
            r#"{"by": {"0": {"mean": 2.0, "ci95": 0.5}}, "m": 3, "m_ci95": 0.25, "none": null, "j": 1.0}"#,
        );
        let number = |name| results.number(name).map(|number| (number.mean, number.ci95));
        assert_eq!(number("by.0.mean"), Some((2.0, 0.5)));
        assert_eq!(number("m"), Some((3.0, 0.25)));
        assert_eq!(number("j"), Some((1.0, 0.0)));
        assert!(results.number("none").unwrap().mean.is_nan());
        assert_eq!(number("by.1.mean"), None);
        assert_eq!(number("by"), None);
    }

    #[test]
    fn a_name_that_is_not_there_is_told_its_neighbours() {
        let results = Named::from_json(r#"{"wait": {"mean": 2.0, "p99": 9.0}, "jain": 1.0}"#);
        assert_eq!(results.why_no_number("wait.p99"), None);
        for (name, says) in [
            ("joy", "there is no result \"joy\"; there are wait, jain"),
            ("wait.p98", "there is no result \"wait.p98\"; \"wait\" has mean, p99"),
            ("wait.p99.mean", "there is no result \"wait.p99.mean\"; \"wait\" has mean, p99"),
            ("wait", "the result \"wait\" is no number; it has mean, p99"),
        ] {
            assert_eq!(results.why_no_number(name).as_deref(), Some(says));
        }
        assert_eq!(results.why_no_keys("wait"), None);
        assert_eq!(results.why_no_keys("jain").as_deref(), Some("the result \"jain\" has no keys"));
    }

    #[test]
    fn the_union_has_the_names_of_all() {
        let [one, other] =
            [r#"{"by": {"0": 1.0}, "x": null}"#, r#"{"by": {"1": 2.0}, "x": 5.0}"#].map(Named::from_json);
        let union = Named::union([&one, &other].into_iter());
        assert_eq!(union.keys_of("by"), Some(vec!["0", "1"]));
        assert_eq!(union.why_no_number("x"), None);
    }
}
