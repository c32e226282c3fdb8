//! What the applications of a check may ask for, as the command line has it.

use driftlock_protocol::{Deadline, Demand, Priority, Units, Urgency};
use driftlock_sim::demand::Numbers;

use crate::failure::Failure;

/// The flags that say what a request may ask for; every combination is a demand of its own.
#[derive(clap::Args, Clone, PartialEq, Debug)]
pub(super) struct Menu {
    /// How many units a request may ask for, such as 1..3; each request chooses
    #[arg(long, value_name = "NUMBERS", default_value = "1", value_parser = each_once)]
    units: Numbers,
    /// The priorities that a request may have, such as 0,1; the larger is the more urgent
    #[arg(long, value_name = "NUMBERS", default_value = "0", value_parser = each_once)]
    priorities: Numbers,
    /// The deadlines that a request may have, such as 1,2; the smaller is the earlier. Without it, none has one
    #[arg(long, value_name = "NUMBERS", value_parser = each_once)]
    deadlines: Option<Numbers>,
}

impl Menu {
    /// All demands, the fewest units first.
    pub(super) fn demands(&self) -> Result<Vec<Demand>, Failure> {
        let none = vec![Deadline::NONE];
        let deadlines =
            self.deadlines.as_ref().map_or(none, |given| given.all().iter().map(|&at| Deadline(at.into())).collect());
        let mut demands = Vec::new();
        for &count in self.units.all() {
            let units = Units::new(count).ok_or_else(|| {
                Failure::Other(format!("a request for {count} units makes no sense: --units starts at 1"))
            })?;
            for &priority in self.priorities.all() {
                demands.extend(deadlines.iter().map(|&deadline| Demand {
                    units,
                    priority: Priority(priority),
                    deadline,
                }));
            }
        }
        Ok(demands)
    }

    /// The flag that means nothing to an algorithm to which only this makes a demand urgent, and what it is about.
    pub(super) fn idle(&self, urgency: Urgency) -> Option<(String, Urgency)> {
        if urgency != Urgency::Priority && self.priorities.all() != [0] {
            return Some((format!("--priorities {}", self.priorities), Urgency::Priority));
        }
        let deadlines = self.deadlines.as_ref().filter(|_| urgency != Urgency::Deadline)?;
        Some((format!("--deadlines {deadlines}"), Urgency::Deadline))
    }

    /// The flags that give this menu, where they are not the usual ones.
    pub(super) fn flags(&self) -> Vec<(&'static str, String)> {
        let given = [("units", &self.units, Some(1)), ("priorities", &self.priorities, Some(0))];
        let deadlines = self.deadlines.as_ref().map(|numbers| ("deadlines", numbers, None));
        let unusual = given
            .into_iter()
            .chain(deadlines)
            .filter(|(_, numbers, usual)| usual.is_none_or(|usual| numbers.all() != [usual]));
        unusual.map(|(name, numbers, _)| (name, numbers.to_string())).collect()
    }
}

/// Numbers of which every request may choose any, so that it makes no sense to name one twice.
fn each_once(text: &str) -> Result<Numbers, String> {
    let numbers: Numbers = text.parse()?;
    if numbers.repeats() {
        return Err(format!("{text:?} names a number twice, but every choice is tried: name each once"));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_a_demand() {
        let numbers = |text: &str| text.parse::<Numbers>().unwrap();
        let menu = Menu { units: numbers("1..3"), priorities: numbers("0,1"), deadlines: None };
        assert_eq!(menu.demands().unwrap().len(), 6);
        assert_eq!(menu.flags(), [("units", "1..3".to_owned()), ("priorities", "0..1".to_owned())]);
        let menu = Menu { units: numbers("0"), ..menu };
        assert!(menu.demands().is_err());
    }
}
