//! The table of contents.

use std::fmt::Write as _;

use super::Section;
use crate::reproduce::markup::text;

/// So many figures find themselves.
const FEW: usize = 3;

/// The place of the claims of a section.
pub(super) fn claims_of(section: usize) -> String {
    format!("claims-{}", section + 1)
}

/// The list, if there is more than a few figures to find.
pub(super) fn list(sections: &[Section]) -> String {
    let figures: usize = sections.iter().flat_map(|section| &section.drawn).map(|drawn| drawn.figures.len()).sum();
    if figures <= FEW {
        return String::new();
    }
    let mut items = String::new();
    for (at, section) in sections.iter().enumerate() {
        if sections.len() > 1 {
            let _ = writeln!(items, "<li class=\"of\">{}</li>", text(section.heading()));
        }
        if !section.judged.is_empty() {
            let heading = section.claims_heading();
            let _ = writeln!(items, "<li><a href=\"#{}\">{heading}</a></li>", claims_of(at));
        }
        for drawn in &section.drawn {
            let _ = writeln!(items, "<li><a href=\"#{}\">{}</a></li>", drawn.name, text(&drawn.title));
        }
    }
    format!("<nav class=\"contents\" aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n{items}</ol>\n</nav>\n")
}
