//! The page around a report: one file that fetches nothing, and may do no more than its own script does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::reproduce::markup::text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Shapes for what holds, what does not, and what does in part; told apart without their colours too.
pub(super) const DISC: &str =
    r#"<svg class="shape" viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="5"/></svg>"#;
pub(super) const DIAMOND: &str =
    r#"<svg class="shape" viewBox="0 0 12 12" aria-hidden="true"><path d="M6 0l6 6-6 6-6-6z"/></svg>"#;
pub(super) const HALF: &str = r#"<svg class="shape" viewBox="0 0 12 12" aria-hidden="true"><circle class="rim" cx="6" cy="6" r="4.9"/><path d="M6 1.1a4.9 4.9 0 0 0 0 9.8z"/></svg>"#;

/// The page with this body.
pub(super) fn whole(title: &str, body: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n{body}<script>{SCRIPT}</script>\n</body>\n</html>\n",
        text(title)
    )
}

/// A command, which the script gives a button.
pub(super) fn command(command: &str) -> String {
    format!("<div class=\"command\"><code>{}</code></div>", text(command))
}

/// A table in a box of its own, within which it scrolls.
pub(super) fn scrolling(name: &str, table: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{table}</div>\n", text(name))
}

/// How a policy names a script or a style that it allows.
fn hash(content: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(content.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::figure::Style;

    #[test]
    fn the_policy_allows_what_the_page_holds() {
        assert_eq!(hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        let page = whole("<b>", "");
        assert!(page.contains("<title>&lt;b&gt;</title>"));
        let between = |from: &str, to: &str| page.split(from).nth(1).unwrap().split(to).next().unwrap().to_owned();
        let policy = between("Security-Policy\" content=\"", "\">");
        for inline in [between("<style>", "</style>"), between("<script>", "</script>")] {
            assert!(policy.contains(&hash(&inline)), "{policy}");
        }
        assert!(!policy.contains("unsafe"));
    }

    #[test]
    fn style_and_script_fetch_nothing_and_end_where_they_should() {
        for asset in [STYLE, SCRIPT] {
            for banned in ["</", "://", "url(", "@import", "innerHTML", "eval("] {
                assert!(!asset.contains(banned), "{banned:?}");
            }
        }
    }

    #[test]
    fn every_colour_of_a_figure_has_one_for_the_dark() {
        for hue in 0..Style::COLOURS {
            let colour = Style::of_colour(hue).hex();
            assert!(STYLE.contains(&format!("[stroke=\"{colour}\"]")), "{colour}");
            assert!(STYLE.contains(&format!("[fill=\"{colour}\"]")), "{colour}");
        }
    }
}
