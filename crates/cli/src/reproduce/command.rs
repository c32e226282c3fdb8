//! The commands that do the same again.

use crate::shell::quoted;

/// The command for these experiments, with the flags that were given and, if told, a folder of its own.
pub(crate) fn again(what: &[&str], overrides: &[(&str, i64)], out: Option<&str>) -> String {
    let mut command = String::from("driftlock reproduce");
    for word in what {
        command.push_str(&format!(" {}", quoted(word)));
    }
    for (name, value) in overrides {
        command.push_str(&format!(" --{name} {value}"));
    }
    out.map_or(command.clone(), |folder| format!("{command} --out {}", quoted(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_flags_and_its_folder() {
        assert_eq!(again(&["krl", "hok-k"], &[], None), "driftlock reproduce krl hok-k");
        let flags = [("seed", 7), ("entries", 200)];
        assert_eq!(
            again(&["fig6"], &flags, Some("krl-fig6")),
            "driftlock reproduce fig6 --seed 7 --entries 200 --out krl-fig6"
        );
    }

    #[test]
    fn a_shell_takes_a_path_for_one_word() {
        assert_eq!(again(&["my file's.toml"], &[], None), r"driftlock reproduce 'my file'\''s.toml'");
        assert_eq!(again(&["$(x).toml"], &[], None), "driftlock reproduce '$(x).toml'");
    }
}
