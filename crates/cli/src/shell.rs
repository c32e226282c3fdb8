//! Commands that can be copied into a shell as they stand.

/// A word as a shell takes it for one.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// These words without these flags, each of which has a value, quoted.
pub(crate) fn without(flags: &[&str], words: impl IntoIterator<Item = String>) -> String {
    let mut words = words.into_iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if !flags.contains(&name) {
            kept.push(quoted(&word));
        } else if value.is_none() {
            words.next();
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_a_word_for_one() {
        assert_eq!(quoted("0..4,7"), "0..4,7");
        assert_eq!(quoted("my file's.toml"), r"'my file'\''s.toml'");
        assert_eq!(quoted("$(x) * ~ !"), "'$(x) * ~ !'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn flags_are_left_out_with_their_values() {
        let words = ["sim", "--trace", "a b", "--load", "1", "--trace=c", "--field", "my field", "--traces=1"];
        let kept = without(&["--trace", "--output"], words.map(str::to_owned));
        assert_eq!(kept, "sim --load 1 --field 'my field' --traces=1");
    }
}
