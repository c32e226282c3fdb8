//! Churn: how often nodes come and go, as a rate.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::random::Spelling;

/// How often each node leaves the neighbourhood it is in, per time unit. Written `light`, `medium`, `heavy`, `none`, or
/// as a number.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Spelling", into = "String")]
pub struct Churn(f64);

/// The rates that have names. The paper that measures under light, medium and heavy mobility does not say what these
/// are. Ours are mean stays of 200, 40 and 10 critical sections of its 500 ms.
const NAMED: [(&str, Churn); 4] =
    [("none", Churn::NONE), ("light", Churn::LIGHT), ("medium", Churn::MEDIUM), ("heavy", Churn::HEAVY)];

impl Churn {
    /// All nodes stay.
    pub const NONE: Self = Self(0.0);
    /// A stay of 100 time units on average.
    pub const LIGHT: Self = Self(0.01);
    /// One of 20.
    pub const MEDIUM: Self = Self(0.05);
    /// One of 5.
    pub const HEAVY: Self = Self(0.2);

    /// Departures of each node per time unit.
    pub fn rate(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Churn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(_, churn)| churn == self) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for Churn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = NAMED.iter().find(|(name, _)| *name == text).map(|(_, churn)| churn.0);
        let rate = named.or_else(|| text.trim().parse().ok()).filter(|rate: &f64| rate.is_finite() && *rate >= 0.0);
        rate.map(|rate| Self(rate.abs())).ok_or_else(|| {
            format!(
                "{text:?} is no churn: write none, light, medium, heavy, or how often each node leaves per time unit, such as 0.1"
            )
        })
    }
}

impl TryFrom<Spelling> for Churn {
    type Error = String;

    fn try_from(spelling: Spelling) -> Result<Self, String> {
        match spelling {
            Spelling::Number(rate) => rate.to_string().parse(),
            Spelling::Text(text) => text.parse(),
        }
    }
}

impl From<Churn> for String {
    fn from(churn: Churn) -> Self {
        churn.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn churn_is_spelled_as_it_is_read() {
        for text in ["none", "light", "medium", "heavy", "0.125"] {
            assert_eq!(text.parse::<Churn>().unwrap().to_string(), text);
        }
        assert_eq!("0.2".parse::<Churn>().unwrap().to_string(), "heavy", "it is the same");
        assert_eq!("-0".parse::<Churn>(), Ok(Churn::NONE));
        for text in ["", "-1", "nan", "inf", "much"] {
            assert!(text.parse::<Churn>().is_err(), "{text:?} should be refused");
        }
    }
}
