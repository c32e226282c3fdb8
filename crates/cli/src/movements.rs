//! Files of movements, which other programs write; and where they lie, as seen from a trace: so the two can be moved
//! together, and a run can be done again from any folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use driftlock_field::mobility::Tracks;
use driftlock_field::mobility::format::{self, Format};
use driftlock_sim::config::{Config, Plan};
use driftlock_sim::field::open_tracks;

use crate::failure::Failure;
use crate::field;

/// How movements are written down in this file, if they are: its name tells, or its first lines do.
pub(crate) fn format(path: &Path) -> Option<Format> {
    let name = path.display().to_string();
    match open_tracks(path) {
        Ok(file) => format::sniff(&name, file),
        Err(_) => Format::of(&name, b""),
    }
}

/// The movements in this file.
pub(crate) fn read(path: &Path) -> Result<Tracks, Failure> {
    let file = open_tracks(path).map_err(|error| {
        let name = path.display();
        let hint =
            if field::is_name(path) { format!("; a field has that name: --field {name}") } else { String::new() };
        Failure::Other(format!("cannot read {name}: {error}{hint}"))
    })?;
    let read = format::read(&path.display().to_string(), file);
    read.map_err(|error| Failure::Other(error.to_string()))
}

/// The plan as a trace in this place tells of it.
pub(crate) fn told_by(trace: &Path, plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    if let Some(tracks) = tracks_of(&mut plan.config) {
        *tracks = seen_from(folder_of(trace), tracks);
    }
    plan
}

/// The configuration that a trace in this place tells of.
pub(crate) fn found_by(trace: &Path, mut config: Config) -> Config {
    if let Some(tracks) = tracks_of(&mut config) {
        *tracks = folder_of(trace).join(&*tracks);
    }
    config
}

fn tracks_of(config: &mut Config) -> Option<&mut PathBuf> {
    config.field.as_mut()?.tracks.as_mut()
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The way from a folder to a file, up and down again. Where there is none, say to another drive, the file by its full
/// name.
fn seen_from(folder: &Path, file: &Path) -> PathBuf {
    let (Ok(folder), Ok(file)) = (fs::canonicalize(folder), fs::canonicalize(file)) else { return file.to_owned() };
    let [from, to]: [Vec<Component>; 2] = [&folder, &file].map(|path| path.components().collect());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    if shared == 0 {
        return file;
    }
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    up.chain(to[shared..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_seen_from_a_folder_up_and_down_again() {
        let root = std::env::temp_dir().join(format!("driftlock-{}-seen", std::process::id()));
        let (traces, fields) = (root.join("runs/today"), root.join("fields"));
        for folder in [&traces, &fields] {
            fs::create_dir_all(folder).unwrap();
        }
        let file = fields.join("walk.ns2");
        fs::write(&file, "").unwrap();
        assert_eq!(seen_from(&traces, &file), Path::new("../../fields/walk.ns2"));
        assert_eq!(seen_from(&fields, &traces.join("../../fields/walk.ns2")), Path::new("walk.ns2"));
        assert_eq!(seen_from(&traces, Path::new("nowhere.ns2")), Path::new("nowhere.ns2"), "nothing to see");
        assert_eq!(folder_of(Path::new("run.jsonl")), Path::new("."));
        fs::remove_dir_all(root).unwrap();
    }
}
