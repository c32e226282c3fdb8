//! Whether results can be written, before they are worked for.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Refuses the first of these files that cannot be written, that is named twice, or that is one of those which are
/// read. What is there is left as it is, and what is not does not come to be.
pub(crate) fn check<'a>(
    outputs: impl IntoIterator<Item = &'a PathBuf>,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Failure> {
    let inputs: Vec<_> = inputs.into_iter().filter_map(|path| identity(path)).collect();
    let mut named = Vec::new();
    for path in outputs {
        if let Some(identity) = identity(path) {
            let why = if inputs.contains(&identity) {
                "it is read as well, and would be overwritten"
            } else if named.contains(&identity) {
                "it is to be written twice"
            } else {
                ""
            };
            if !why.is_empty() {
                return Err(Failure::Other(format!("{}: {why}; give it another name", path.display())));
            }
            named.push(identity);
        }
        probe(path).map_err(Failure::write(path))?;
    }
    Ok(())
}

/// Which file it is, by whatever way it is named. Pipes and devices take anything, also twice.
fn identity(path: &Path) -> Option<PathBuf> {
    if let Ok(known) = fs::metadata(path) {
        return known.is_file().then(|| fs::canonicalize(path).ok())?;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

fn probe(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(known) if known.is_file() || known.is_dir() => OpenOptions::new().write(true).open(path).map(drop),
        // To open a pipe may wake the program that reads from it.
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
        check([&new, &old], []).unwrap();
        assert!(!new.exists() && fs::read(&old).unwrap() == b"kept");
        for path in [&folder, &folder.join("nowhere/new"), &old.join("new")] {
            let says = check([&new, path], []).unwrap_err().to_string();
            assert!(says.starts_with(&format!("cannot write {}: ", path.display())), "{says}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_read_is_not_written_and_nothing_is_written_twice() {
        let folder = std::env::temp_dir().join(format!("driftlock-{}-twice", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [new, old] = ["new", "old"].map(|name| folder.join(name));
        fs::write(&old, "kept").unwrap();
        let other_way = folder.join("../").join(folder.file_name().unwrap()).join("old");
        let says = |outputs: &[&PathBuf], inputs: &[&PathBuf]| {
            check(outputs.iter().copied(), inputs.iter().copied()).unwrap_err().to_string()
        };
        assert!(says(&[&new, &other_way], &[&old]).contains("it is read as well, and would be overwritten"));
        assert!(says(&[&new, &old, &new], &[]).contains("it is to be written twice"));
        check([&new, &old], [&folder.join("third")]).unwrap();
        let nowhere = PathBuf::from("/dev/null");
        check([&nowhere, &nowhere], [&nowhere]).unwrap();
        assert_eq!(fs::read(&old).unwrap(), b"kept");
        fs::remove_dir_all(folder).unwrap();
    }
}
