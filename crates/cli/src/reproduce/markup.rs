//! Text in a page.

/// Text that can stand in a page, also within an attribute in double quotes.
pub(crate) fn text(raw: &str) -> String {
    raw.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(text(r#"<b a="1">&amp;"#), "&lt;b a=&quot;1&quot;&gt;&amp;amp;");
    }
}
