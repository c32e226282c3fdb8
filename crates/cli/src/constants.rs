//! `--constant`: the numbers of our own that an algorithm goes by.

use driftlock_protocol::Constants;

use crate::failure::Failure;

/// The flag, for every command that runs an algorithm.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct ConstantFlags {
    /// Set a constant of the algorithm (see driftlock list ALGORITHM), times in seconds; may be given several times
    #[arg(long = "constant", value_name = "NAME=VALUE", value_parser = constant)]
    given: Vec<(String, f64)>,
}

impl ConstantFlags {
    /// Refuses a constant that is set twice: one of them would have no effect.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match named_twice(&self.given) {
            Some(name) => Err(Failure::Other(format!("--constant sets {name} twice: leave one out"))),
            None => Ok(()),
        }
    }

    /// What a file says, with the flags on top.
    pub(crate) fn over(&self, mut file: Constants) -> Constants {
        file.extend(self.given.iter().cloned());
        file
    }

    pub(crate) fn constants(&self) -> Constants {
        self.over(Constants::new())
    }
}

/// As they can be typed again.
pub(crate) fn flags(constants: &Constants) -> String {
    constants.iter().map(|(name, value)| format!(" --constant {name}={value}")).collect()
}

/// As people read them: nothing, or what comes after a list of other things.
pub(crate) fn listed(constants: &Constants) -> String {
    constants.iter().map(|(name, value)| format!(", {name} = {value}")).collect()
}

/// The first that is named by several of these flags, if one is.
pub(crate) fn named_twice<N: PartialEq, T>(flags: &[(N, T)]) -> Option<&N> {
    let is_again = |at: usize, name: &N| flags[..at].iter().any(|(other, _)| other == name);
    flags.iter().enumerate().find(|(at, (name, _))| is_again(*at, name)).map(|(_, (name, _))| name)
}

fn constant(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("write a name, =, and a number, such as beat=0.4")?;
    let number = value.parse().map_err(|_| format!("{value:?} is no number; times are in seconds, without a unit"))?;
    Ok((name.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_a_name_and_a_number() {
        assert_eq!(constant("beat=0.4"), Ok(("beat".to_owned(), 0.4)));
        assert!(constant("beat").unwrap_err().contains("such as beat=0.4"));
        assert!(constant("beat=2s").unwrap_err().contains("\"2s\" is no number"));
    }

    #[test]
    fn flags_win_over_a_file_and_can_be_typed_again() {
        let flags = |given: &[(&str, f64)]| ConstantFlags {
            given: given.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        };
        let file = flags(&[("beat", 1.0), ("lease", 5.0)]).constants();
        let both = flags(&[("beat", 0.5)]).over(file);
        assert_eq!(super::flags(&both), " --constant beat=0.5 --constant lease=5");
        assert_eq!(listed(&both), ", beat = 0.5, lease = 5");
        let twice = flags(&[("beat", 0.5), ("lease", 5.0), ("beat", 0.5)]);
        assert_eq!(twice.check().unwrap_err().to_string(), "--constant sets beat twice: leave one out");
    }
}
