//! What the simulations of an experiment have in common, and in what they differ.

use driftlock_sim::config::Config;
use serde_json::{Map, Value as Json};

/// Said even where they are as usual.
const ALWAYS: [&str; 10] =
    ["algorithm", "nodes", "k", "load", "cs_time", "delay", "warmup", "entries", "replications", "seed"];

/// The parameters of an experiment, by their names in experiment files. What is not named is the default.
pub(crate) struct Parameters {
    /// Those with several values, in the order in which they turn up.
    pub varied: Vec<(String, Vec<String>)>,
    /// Those with one.
    pub fixed: Vec<(String, String)>,
}

impl Parameters {
    pub(crate) fn of(configs: &[&Config]) -> Self {
        let default = fields(&Config::default());
        let all: Vec<_> = configs.iter().map(|config| fields(config)).collect();
        let mut parameters = Self { varied: Vec::new(), fixed: Vec::new() };
        for name in distinct(all.iter().flat_map(Map::keys)) {
            let values = distinct(all.iter().map(|fields| fields.get(name).unwrap_or(&Json::Null)));
            match values.as_slice() {
                [value] if ALWAYS.contains(&name.as_str()) || default.get(name) != Some(*value) => {
                    parameters.fixed.push((name.clone(), words(value)));
                }
                [] | [_] => {}
                several => parameters.varied.push((name.clone(), several.iter().copied().map(words).collect())),
            }
        }
        parameters
    }
}

/// Each once, in the order in which they turn up.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for item in all {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

fn fields(config: &Config) -> Map<String, Json> {
    let Ok(Json::Object(mut fields)) = serde_json::to_value(config) else { return Map::new() };
    // The one follows from the other.
    if config.contention.is_some() || config.load_of_all.is_some() {
        fields.remove("load");
    }
    // What had no say is said of no run: radios take as long as they take, whatever the delay is by default.
    if let Ok(plan) = config.clone().plan() {
        for (name, _) in plan.parameters().into_iter().filter(|(_, value)| value.is_null()) {
            fields.remove(&name);
        }
    }
    fields
}

fn words(value: &Json) -> String {
    match value {
        Json::String(word) => word.clone(),
        Json::Null => "none".into(),
        Json::Array(items) if items.is_empty() => "none".into(),
        Json::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        Json::Object(_) => "as in the experiment's file".into(),
        Json::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use driftlock_sim::field::FieldPlan;

    use super::*;

    #[test]
    fn what_varies_stands_apart_from_what_does_not() {
        let config = |load: f64| Config { load, connectivity: 0.8, ..Config::default() };
        let Parameters { varied, fixed } = Parameters::of(&[&config(0.1), &config(0.2), &config(0.1)]);
        assert_eq!(varied, [("load".to_owned(), vec!["0.1".to_owned(), "0.2".to_owned()])]);
        let value = |name: &str| fixed.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!([value("connectivity"), value("seed"), value("nodes")], [Some("0.8"), Some("1"), Some("30")]);
        assert_eq!(value("mobility"), None, "as usual");
    }

    #[test]
    fn contention_takes_the_place_of_the_load_that_follows_from_it() {
        let config = Config { contention: Some(50.0), ..Config::default() }.plan().unwrap().config;
        let Parameters { fixed, .. } = Parameters::of(&[&config]);
        assert!(fixed.contains(&("contention".to_owned(), "50".to_owned())));
        assert!(fixed.iter().all(|(name, _)| name != "load"));
    }

    #[test]
    fn what_had_no_say_is_not_said() {
        let on_a_field = Config { field: Some(FieldPlan::default()), ..Config::default() };
        let Parameters { fixed, .. } = Parameters::of(&[&on_a_field]);
        assert!(fixed.iter().any(|(name, _)| name == "load") && fixed.iter().all(|(name, _)| name != "delay"));
        let Parameters { varied, .. } = Parameters::of(&[&on_a_field, &Config::default()]);
        assert!(varied.contains(&("delay".to_owned(), vec!["none".to_owned(), "1".to_owned()])));
    }
}
