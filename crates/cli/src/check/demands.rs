//! What the applications of a check may ask for, as the command line has it.

use driftlock_protocol::{Deadline, Demand, Priority, Units};

use crate::failure::Failure;

/// Numbers as people write them: `1`, `1..3`, `0,10`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Numbers {
    text: String,
    numbers: Vec<u32>,
}

/// More than any menu has room for.
const NUMBERS_MAX: usize = 100;

impl Numbers {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let explain = || "numbers such as 1, 1..3 or 0,10".to_owned();
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| explain());
        let mut numbers = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => numbers.push(number(part)?),
                Some((first, last)) => numbers.extend((number(first)?..=number(last)?).take(NUMBERS_MAX)),
            }
        }
        numbers.dedup();
        if numbers.is_empty() { Err(explain()) } else { Ok(Self { text: text.to_owned(), numbers }) }
    }
}

/// The flags that say what a request may ask for; every combination is a demand of its own.
#[derive(clap::Args, Clone, PartialEq, Debug)]
pub(super) struct Menu {
    /// How many units a request may ask for, such as 1..3; each request chooses
    #[arg(long, value_name = "NUMBERS", default_value = "1", value_parser = Numbers::parse)]
    units: Numbers,
    /// The priorities that a request may have, such as 0,1; the larger is the more urgent
    #[arg(long, value_name = "NUMBERS", default_value = "0", value_parser = Numbers::parse)]
    priorities: Numbers,
    /// The deadlines that a request may have, such as 1,2; the smaller is the earlier. Without it, none has one
    #[arg(long, value_name = "NUMBERS", value_parser = Numbers::parse)]
    deadlines: Option<Numbers>,
}

impl Menu {
    /// All demands, the fewest units first.
    pub(super) fn demands(&self) -> Result<Vec<Demand>, Failure> {
        let none = vec![Deadline::NONE];
        let deadlines =
            self.deadlines.as_ref().map_or(none, |given| given.numbers.iter().map(|&at| Deadline(at.into())).collect());
        let mut demands = Vec::new();
        for &count in &self.units.numbers {
            let units = Units::new(count).ok_or_else(|| {
                Failure::Other(format!("a request for {count} units makes no sense: --units starts at 1"))
            })?;
            for &priority in &self.priorities.numbers {
                demands.extend(deadlines.iter().map(|&deadline| Demand {
                    units,
                    priority: Priority(priority),
                    deadline,
                }));
            }
        }
        Ok(demands)
    }

    /// The flags that give this menu, where they are not the usual ones.
    pub(super) fn flags(&self) -> Vec<(&'static str, &str)> {
        let given = [("units", &self.units, "1"), ("priorities", &self.priorities, "0")];
        let mut flags: Vec<_> = given
            .into_iter()
            .filter(|(_, numbers, usual)| numbers.text != *usual)
            .map(|(name, numbers, _)| (name, numbers.text.as_str()))
            .collect();
        flags.extend(self.deadlines.as_ref().map(|numbers| ("deadlines", numbers.text.as_str())));
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_lists_and_ranges() {
        let of = |text: &str| Numbers::parse(text).unwrap().numbers;
        assert_eq!((of("1..3"), of("0,10"), of("2")), (vec![1, 2, 3], vec![0, 10], vec![2]));
        assert!(["", "a", "1,", "-1", "3..1"].iter().all(|text| Numbers::parse(text).is_err()));
    }

    #[test]
    fn every_combination_is_a_demand() {
        let numbers = |text: &str| Numbers::parse(text).unwrap();
        let menu = Menu { units: numbers("1..3"), priorities: numbers("0,1"), deadlines: None };
        assert_eq!(menu.demands().unwrap().len(), 6);
        assert_eq!(menu.flags(), [("units", "1..3"), ("priorities", "0,1")]);
        let menu = Menu { units: numbers("0"), ..menu };
        assert!(menu.demands().is_err());
    }
}
