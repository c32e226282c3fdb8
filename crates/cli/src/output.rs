//! Whether results can be written, before they are worked for.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Refuses the first of these files that can not be written. What is there is left as it is, and what is not does not
/// come to be.
pub(crate) fn check<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    paths.into_iter().try_for_each(|path| probe(path).map_err(Failure::write(path)))
}

fn probe(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(known) if known.is_file() || known.is_dir() => OpenOptions::new().write(true).open(path).map(drop),
        // To open a pipe may wake who reads from it.
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_written_is_left_as_it_was() {
        let folder = std::env::temp_dir().join(format!("driftlock-{}-output", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [new, old] = ["new", "old"].map(|name| folder.join(name));
        fs::write(&old, "kept").unwrap();
        check([&new, &old]).unwrap();
        assert!(!new.exists() && fs::read(&old).unwrap() == b"kept");
        for path in [&folder, &folder.join("nowhere/new"), &old.join("new")] {
            let says = check([&new, path]).unwrap_err().to_string();
            assert!(says.starts_with(&format!("can not write {}: ", path.display())), "{says}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
