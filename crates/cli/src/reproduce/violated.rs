//! Replications that an oracle ended, and the commands that record them.

use std::fs;
use std::path::{Path, absolute};

use driftlock_sim::config::Config;
use driftlock_sim::summary::Summary;

use crate::failure::Failure;
use crate::results::run_id;
use crate::shell::quoted;

/// A replication that an oracle ended.
pub(crate) struct Violated {
    /// What the oracle said.
    pub what: String,
    /// The command that records it.
    pub command: String,
}

/// Leaves the configuration of each simulation that went wrong in the folder, for the command that does it again.
pub(super) fn keep(folder: &Path, results: &[&(Config, Summary)]) -> Result<Vec<Violated>, Failure> {
    let mut all = Vec::new();
    for (config, summary) in results {
        if summary.violation_details.is_empty() {
            continue;
        }
        let path = folder.join(format!("violated-{}.toml", run_id(&config.clone().plan()?)?));
        fs::write(&path, file(config)?).map_err(Failure::write(&path))?;
        let file = quoted(&path.display().to_string());
        all.extend(summary.violation_details.iter().map(|violated| Violated {
            what: format!("replication {}: {}", violated.replication, violated.what),
            command: format!(
                "driftlock sim --config {file} --trace violation.jsonl --trace-replication {}",
                violated.replication
            ),
        }));
    }
    Ok(all)
}

/// As `driftlock sim --config` reads it, from any folder.
fn file(config: &Config) -> Result<String, Failure> {
    let mut config = config.clone();
    if let Some(tracks) = config.field.as_mut().and_then(|field| field.tracks.as_mut()) {
        *tracks = absolute(&*tracks).map_err(Failure::read(tracks))?;
    }
    toml::to_string(&config).map_err(|error| Failure::Other(format!("a configuration cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_was_kept_is_read_again() {
        for text in [
            "",
            "algorithm = \"hok\"\nunits = \"1..2\"\nload_of = { 3 = 2.5 }\npriority_of = { 0 = 7 }\ncontention = 50",
            "seed = 7\n[field]\nradio = \"nfk\"\n[[field.fault]]\nat = 5.0\nkind = \"pause\"\nnode = 1\nlasts = 2.0\n\
             [field.faults]\npauses = { per-minute = 4.0, lasts = [1.0, 10.0] }",
        ] {
            let config: Config = toml::from_str(text).unwrap();
            let planned = config.plan().unwrap().config;
            assert_eq!(toml::from_str::<Config>(&file(&planned).unwrap()), Ok(planned));
        }
    }
}
