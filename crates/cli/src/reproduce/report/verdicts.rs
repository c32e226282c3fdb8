//! The claims of a paper and what became of them.

use super::Section;
use super::page::{DIAMOND, DISC, HALF, scrolling};
use crate::reproduce::claims::{Evidence, Judged, Verdict};
use crate::reproduce::markup::text;
use crate::results::with_ci;

/// A claim, for a terminal.
pub(super) fn line(judged: &Judged) -> String {
    let verdict = judged.verdict.words();
    let under = judged.under.as_ref().map(|under| format!("{} {}; ", under.value, under.what)).unwrap_or_default();
    format!("{verdict:>13}  {} [{under}{}]\n", judged.claim, judged.evidence)
}

/// The table of claims, at this place of the page.
pub(super) fn table(section: &Section, id: &str) -> String {
    if section.paper.is_none() {
        return String::new();
    }
    let judged = section.judged.as_slice();
    if judged.is_empty() {
        return String::from(
            "<p>No claim is judged: that takes the experiments it is about, and two replications or more.</p>\n",
        );
    }
    let condition = judged.iter().find_map(|judged| judged.under.as_ref()).map(|under| under.what);
    let column = condition.map(|what| format!("<th>{}", text(what))).unwrap_or_default();
    let rows: String = judged.chunk_by(|a, b| (a.claim, a.place) == (b.claim, b.place)).map(rows).collect();
    let table = format!(
        "<table class=\"claims\"><thead><tr><th>claim<th>where{column}<th>verdict<th>what was measured</tr></thead>\n{rows}</table>"
    );
    let heading = section.claims_heading();
    format!("<h2 id=\"{id}\">{heading}</h2>\n{}{}", tally(judged), scrolling(heading, &table))
}

/// How many verdicts there are of each kind.
fn tally(judged: &[Judged]) -> String {
    let count = |verdict| judged.iter().filter(|judged| judged.verdict == verdict).count();
    let items: String = [Verdict::Holds, Verdict::Mixed, Verdict::DoesNotHold]
        .into_iter()
        .map(|verdict| format!("<li>{} <b>{}</b></li>", told(verdict), count(verdict)))
        .collect();
    format!(
        "<ul class=\"tally\">{items}</ul>\n<p class=\"quiet\">A claim holds at a point if it does by more than chance explains \
         (95% confidence); mixed: at some points and not at others.</p>\n"
    )
}

/// A verdict in shape, colour and word.
fn told(verdict: Verdict) -> String {
    let (class, shape) = match verdict {
        Verdict::Holds => ("holds", DISC),
        Verdict::DoesNotHold => ("does-not-hold", DIAMOND),
        Verdict::Mixed => ("mixed", HALF),
    };
    format!("<span class=\"verdict {class}\">{shape}{}</span>", verdict.words())
}

/// A claim under all the conditions under which it was judged.
fn rows(same: &[Judged]) -> String {
    let mut rows = String::from("<tbody>");
    for (at, judged) in same.iter().enumerate() {
        rows.push_str("<tr>");
        if at == 0 {
            let (span, claim, place) = (same.len(), text(judged.claim), text(judged.place));
            rows.push_str(&format!("<th scope=\"rowgroup\" rowspan=\"{span}\">{claim}<td rowspan=\"{span}\">{place}"));
        }
        let under = judged.under.as_ref().map(|under| format!("<td>{}", text(&under.value))).unwrap_or_default();
        let points: String = judged.points.iter().map(point).collect();
        rows.push_str(&format!(
            "{under}<td>{}<td>{}<details><summary>all points</summary><table class=\"evidence\">{points}</table></details></tr>\n",
            told(judged.verdict),
            text(&judged.evidence),
        ));
    }
    rows.push_str("</tbody>\n");
    rows
}

fn point(evidence: &Evidence) -> String {
    let verdict = if evidence.holds { Verdict::Holds } else { Verdict::DoesNotHold };
    let value = with_ci(evidence.value.mean, Some(evidence.value.ci95).filter(|&ci95| ci95 > 0.0));
    format!("<tr><td>{}<td class=\"number\">{value}<td>{}</tr>\n", text(&evidence.at), told(verdict))
}
