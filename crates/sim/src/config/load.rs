//! The load, in whichever words it is given.

use super::{Config, ConfigError};

impl Config {
    /// The load, which the contention may stand for (time in the CS by that and the pause after it, of which the load
    /// is the inverse), or the load of all nodes together.
    pub(super) fn load_in_other_words(&self) -> Result<f64, ConfigError> {
        let cs_time = self.cs_time.mean();
        let (words, means) = match (self.contention, self.load_of_all) {
            (None, None) => return Ok(self.load),
            (Some(_), Some(_)) => return Err(ConfigError::ThreeLoads { name: "contention" }),
            (None, Some(_)) if !self.load_of.is_empty() => return Err(ConfigError::ThreeLoads { name: "load_of" }),
            (Some(contention), None) => {
                in_bounds("contention", "above 0 and below 100", contention, contention > 0.0 && contention < 100.0)?;
                let share = contention / 100.0;
                let of = format!("a contention of {contention}% is a load of");
                ((of, format!("if the CS takes {cs_time} on average")), share / (cs_time * (1.0 - share)))
            }
            (None, Some(all)) => {
                in_bounds("load_of_all", "above 0", all, all > 0.0 && all.is_finite())?;
                let of = format!("a load of all of {all} is a load of");
                ((of, format!("for each of {} nodes", self.nodes)), all / f64::from(self.nodes))
            }
        };
        // What was planned once may be planned again.
        let untouched = [Self::default().load, means].iter().any(|load| load.to_bits() == self.load.to_bits());
        if untouched { Ok(means) } else { Err(ConfigError::TwoLoads { words, means, load: self.load }) }
    }
}

fn in_bounds(name: &'static str, bound: &'static str, value: f64, is_in: bool) -> Result<(), ConfigError> {
    if is_in { Ok(()) } else { Err(ConfigError::Number { name, bound, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Duration;

    #[test]
    fn contention_is_another_way_to_say_load() {
        let config = |contention| Config {
            contention: Some(contention),
            cs_time: Duration::Exponential(0.5),
            ..Config::default()
        };
        for (contention, load) in [(2.0, 1.0 / 24.5), (50.0, 2.0), (98.0, 98.0)] {
            let plan = config(contention).plan().unwrap();
            assert!((plan.config.load / load - 1.0).abs() < 1e-12, "{contention}%: {}", plan.config.load);
            assert_eq!(plan.config.clone().plan().unwrap(), plan, "what was planned can be planned again");
        }
        for contention in [0.0, 100.0, -3.0, f64::NAN] {
            let says = config(contention).plan().unwrap_err().to_string();
            assert!(says.starts_with("contention must be a finite number above 0 and below 100"), "{says}");
        }
        assert_eq!(
            Config { load: 3.0, ..config(50.0) }.plan().unwrap_err().to_string(),
            "a contention of 50% is a load of 2 if the CS takes 0.5 on average, not 3: give one of them"
        );
        let instant = Config { cs_time: Duration::Constant(0.0), ..config(50.0) };
        assert!(
            instant.plan().unwrap_err().to_string().contains("load must be"),
            "no load makes up for no time at all"
        );
    }

    #[test]
    fn the_load_of_all_is_another_way_to_say_load() {
        let config = |all| Config { load_of_all: Some(all), nodes: 20, ..Config::default() };
        let plan = config(3.0).plan().unwrap();
        assert!((plan.config.load - 0.15).abs() < 1e-12, "{}", plan.config.load);
        assert_eq!(plan.config.clone().plan().unwrap(), plan, "what was planned can be planned again");
        let refusal = |config: Config| config.plan().unwrap_err().to_string();
        for all in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let says = refusal(config(all));
            assert!(says.starts_with("load_of_all must be a finite number above 0"), "{says}");
        }
        assert_eq!(
            refusal(Config { load: 3.0, ..config(2.0) }),
            "a load of all of 2 is a load of 0.1 for each of 20 nodes, not 3: give one of them"
        );
        let contention = refusal(Config { contention: Some(50.0), ..config(2.0) });
        assert_eq!(contention, "load_of_all and contention say the load in two ways: give one of them");
        let single = refusal(Config { load_of: [(3, 1.0)].into(), ..config(2.0) });
        assert_eq!(single, "load_of_all and load_of say the load in two ways: give one of them");
    }
}
