//! What tells a run from others: tables that were put together still say which row is which.

use std::fmt::Write as _;
use std::fs;

use driftlock_sim::config::Plan;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// The driftlock that simulated.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// So many bytes of a digest are enough: among a million runs two share them once in 30 million times.
const BYTES: usize = 8;

/// The same for the same configuration and seed, and for no other: a digest of all parameters that had a say, in the
/// order of their names. Of a file of movements its content counts, wherever it lies.
pub(crate) fn run_id(plan: &Plan) -> Result<String, Failure> {
    let mut parameters = Value::Object(plan.parameters());
    if let Some(path) = plan.config.field.as_ref().and_then(|field| field.tracks.as_ref()) {
        let movements = fs::read(path).map_err(Failure::read(path))?;
        parameters["field"]["tracks"] = digest(&movements).into();
    }
    parameters.sort_all_objects();
    Ok(digest(parameters.to_string().as_bytes()))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(BYTES).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use driftlock_sim::config::Config;

    use super::*;

    fn id(text: &str) -> String {
        let config: Config = toml::from_str(text).expect("a configuration");
        run_id(&config.plan().expect("it makes sense")).expect("an id")
    }

    #[test]
    fn the_same_configuration_and_seed_have_the_same_id_and_no_other_has() {
        let plain = id("");
        assert_eq!((plain.len(), &plain), (16, &id("")));
        assert_eq!(plain, id("load = 0.1\nseed = 1\ndelay = 1\n"), "that is the default");
        assert_eq!(plain, id("delay = \"1\""), "however it is written");
        for other in ["seed = 2", "load = 0.2", "nodes = 31", "delay = \"exponential:1\"", "load_of = { 3 = 0.5 }"] {
            assert_ne!(plain, id(other), "{other}");
        }
    }

    #[test]
    fn a_radio_by_name_and_the_same_in_numbers_are_the_same_configuration() {
        assert_eq!(id("[field]\nradio = \"wifi-2mbps\""), id("[field]"));
        assert_ne!(id("[field]\nradio = \"nfk\""), id("[field]"));
    }
}
