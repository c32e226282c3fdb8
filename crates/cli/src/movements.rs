//! Files of movements, which other programs write.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use driftlock_field::mobility::Tracks;
use driftlock_field::mobility::format::{self, Format};

use crate::failure::Failure;
use crate::sim::field;

/// How movements are written down in this file, if they are: its name tells, or its first lines do.
pub(crate) fn format(path: &Path) -> Option<Format> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => format::sniff(&name, BufReader::new(file)),
        Err(_) => Format::of(&name, b""),
    }
}

/// The movements in this file.
pub(crate) fn read(path: &Path) -> Result<Tracks, Failure> {
    let file = File::open(path).map_err(|error| {
        let name = path.display();
        let hint =
            if field::is_name(path) { format!("; a field has that name: --field {name}") } else { String::new() };
        Failure::Other(format!("can not read {name}: {error}{hint}"))
    })?;
    let read = format::read(&path.display().to_string(), BufReader::new(file));
    read.map_err(|error| Failure::Other(error.to_string()))
}
