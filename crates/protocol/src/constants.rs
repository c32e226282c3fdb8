//! The numbers of our own that an algorithm goes by, and that its users may set: no network has the delays of another.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use core::time::Duration;

use thiserror::Error;

use crate::Protocol;

#[cfg(test)]
mod tests;

/// What users have set, by name. Times are in seconds, which are the papers' units of time.
pub type Constants = BTreeMap<String, f64>;

/// The longest time that a constant may be, in seconds.
const SECONDS_MAX: f64 = 1e6;

/// A number that an algorithm goes by.
#[derive(Clone, Debug)]
pub struct Constant<V> {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub says: &'static str,
    place: Place<V>,
}

/// Where a variant has it.
#[derive(Clone, Debug)]
enum Place<V> {
    /// A time, and whether it may be none at all.
    Time(fn(&mut V) -> &mut Duration, bool),
    Count(fn(&mut V) -> &mut u16, RangeInclusive<u16>),
}

/// What cannot be set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WrongConstant {
    /// It does not exist.
    #[error("the algorithm has no constant {name:?}: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Which there are.
        known: String,
    },
    /// No value for this constant.
    #[error("{name} = {value}: it must be {must}")]
    Value {
        /// Of which constant.
        name: &'static str,
        /// What was given.
        value: String,
        /// What could be.
        must: String,
    },
    /// Each makes sense by itself, and together they do not.
    #[error("{0}")]
    Together(String),
}

impl<V: Copy> Constant<V> {
    /// A time that passes.
    pub const fn time(name: &'static str, place: fn(&mut V) -> &mut Duration, says: &'static str) -> Self {
        Self { name, says, place: Place::Time(place, false) }
    }

    /// A time that may be none at all.
    pub const fn pause(name: &'static str, place: fn(&mut V) -> &mut Duration, says: &'static str) -> Self {
        Self { name, says, place: Place::Time(place, true) }
    }

    /// A whole number.
    pub const fn count(
        name: &'static str,
        place: fn(&mut V) -> &mut u16,
        range: RangeInclusive<u16>,
        says: &'static str,
    ) -> Self {
        Self { name, says, place: Place::Count(place, range) }
    }

    /// Its value.
    pub fn value(&self, mut variant: V) -> f64 {
        match self.place {
            Place::Time(place, _) => place(&mut variant).as_secs_f64(),
            Place::Count(place, _) => f64::from(*place(&mut variant)),
        }
    }

    /// As people read it.
    pub fn shown(&self, variant: V) -> String {
        let unit = if matches!(self.place, Place::Time(..)) { " s" } else { "" };
        format!("{}{unit}", self.value(variant))
    }

    #[allow(clippy::float_cmp)] // whole numbers of this size are exact
    fn set(&self, variant: &mut V, value: f64) -> Result<(), WrongConstant> {
        let set = match &self.place {
            Place::Time(place, may_be_none) => {
                let least = if *may_be_none { 0.0 } else { 0.001 };
                let time = Duration::try_from_secs_f64(value).ok().filter(|_| (least..=SECONDS_MAX).contains(&value));
                time.map(|time| *place(variant) = time)
            }
            Place::Count(place, range) => {
                range.clone().find(|count| f64::from(*count) == value).map(|count| *place(variant) = count)
            }
        };
        set.ok_or_else(|| WrongConstant::Value { name: self.name, value: format!("{value}"), must: self.must() })
    }

    fn must(&self) -> String {
        match &self.place {
            Place::Time(_, true) => format!("a time of 0 to {SECONDS_MAX} seconds"),
            Place::Time(_, false) => format!("a time of 0.001 to {SECONDS_MAX} seconds"),
            Place::Count(_, range) => format!("a whole number from {} to {}", range.start(), range.end()),
        }
    }
}

/// On what terms a world runs an algorithm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms<'a> {
    /// With its constants as small as they can be, as searches have it.
    pub small_scale: bool,
    /// With radios to carry its messages.
    pub over_radios: bool,
    /// What users have set. It counts before anything else.
    pub constants: &'a Constants,
}

impl Terms<'_> {
    /// The variant to run, made of the usual one.
    pub fn variant<P: Protocol>(self, usual: P::Variant) -> Result<P::Variant, WrongConstant> {
        let variant = if self.small_scale { P::at_small_scale(usual) } else { usual };
        let mut variant = if self.over_radios { P::over_radios(variant) } else { variant };
        let known = P::constants(variant);
        for (name, &value) in self.constants {
            let constant = known.iter().find(|constant| constant.name == name);
            constant.ok_or_else(|| unknown(name, &known))?.set(&mut variant, value)?;
        }
        P::fit(variant).map_err(WrongConstant::Together)?;
        Ok(variant)
    }
}

fn unknown<V>(name: &str, known: &[Constant<V>]) -> WrongConstant {
    let names: Vec<_> = known.iter().map(|constant| constant.name).collect();
    let known = if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
    WrongConstant::Unknown { name: name.to_owned(), known }
}
