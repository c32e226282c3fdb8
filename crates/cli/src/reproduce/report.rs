//! The report of a reproduction: claims, numbers and figures on one self-contained page, and in short on the terminal.

use std::fmt::Write as _;

use driftlock_protocol::Algorithm;
use driftlock_protocol::registry::Paper as Source;
use driftlock_sim::config::Config;
use driftlock_sim::summary::Summary;

use super::claims::{Evidence, Judged, Verdict};
use super::paper::Paper;
use crate::results::with_ci;

pub(crate) mod hok;
pub(crate) mod klme;
pub(crate) mod krl;

/// A figure that was drawn.
pub(crate) struct Drawn {
    pub title: String,
    pub about: String,
    pub svg: String,
}

/// All that goes into a report.
pub(crate) struct Report<'a> {
    /// The command that does the same again.
    pub command: String,
    pub sections: Vec<Section<'a>>,
}

/// What was measured for one paper, or for one that is not among those that we reproduce.
pub(crate) struct Section<'a> {
    pub paper: Option<&'static Paper>,
    pub results: Vec<&'a (Config, Summary)>,
    pub judged: Vec<Judged>,
    pub drawn: Vec<Drawn>,
}

const STYLE: &str = "\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
h1 { font-size: 1.6rem; margin-bottom: 0 } h2 { font-size: 1.2rem; margin-top: 2.5rem }
table { border-collapse: collapse; width: 100%; font-size: .92rem } th, td { border-bottom: 1px solid #ddd; padding: .35rem .6rem; text-align: left; vertical-align: top }
th { border-bottom: 2px solid #888 } td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.verdict { white-space: nowrap; font-weight: 600 } .holds { color: #00664a } .does-not-hold { color: #a33c00 } .mixed { color: #6b4e00 }
figure { margin: 1.5rem 0; overflow-x: auto } svg { max-width: 100%; height: auto } figcaption { color: #555; max-width: 60rem }
code { background: #f2f2f2; padding: .1rem .3rem } details { font-size: .85rem; color: #444 } summary { cursor: pointer }
@media print { body { margin: 0; max-width: none } details { display: none } figure { break-inside: avoid } }";

impl Report<'_> {
    /// The page.
    pub(crate) fn to_html(&self) -> String {
        let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
        page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.push_str("<title>driftlock: reproduced</title>\n");
        let _ = write!(page, "<style>\n{STYLE}\n</style>\n<h1>driftlock: reproduced</h1>\n");
        for section in &self.sections {
            if self.sections.len() > 1 {
                let _ = writeln!(page, "<h1>{}</h1>", text(section.heading()));
            }
            page.push_str(&section.to_html(&self.command));
        }
        page.push_str("</html>\n");
        page
    }

    /// The claims, for a terminal.
    pub(crate) fn to_text(&self) -> String {
        self.sections.iter().flat_map(|section| &section.judged).map(line).collect()
    }
}

/// A claim, for a terminal.
fn line(judged: &Judged) -> String {
    let verdict = judged.verdict.words();
    let under = judged.under.as_ref().map(|under| format!("{} {}; ", under.value, under.what)).unwrap_or_default();
    format!("{verdict:>13}  {} [{under}{}]\n", judged.claim, judged.evidence)
}

impl Section<'_> {
    fn to_html(&self, command: &str) -> String {
        let mut page = self.setup(command);
        page.push_str(self.paper.and_then(|paper| paper.note).unwrap_or_default());
        page.push_str(&self.violations());
        page.push_str(&self.claims());
        if let Some(numbers) = self.paper.and_then(|paper| paper.numbers) {
            page.push_str(&numbers(&self.results));
        }
        for Drawn { title, about, svg } in &self.drawn {
            let _ = write!(
                page,
                "<h2>{}</h2>\n<figure>{svg}\n<figcaption>{}</figcaption></figure>\n",
                text(title),
                text(about)
            );
        }
        page
    }

    /// Where the algorithms come from.
    fn source(&self) -> Option<Source> {
        let first = self.results.first().map(|(config, _)| config.algorithm.as_str());
        let tag = self.paper.map(|paper| paper.tag).or(first)?;
        Algorithm::named(tag).map(|algorithm| algorithm.paper)
    }

    fn heading(&self) -> &'static str {
        self.source().map_or("", |source| source.title)
    }

    /// A parameter of the simulations: its value, or its values.
    fn parameter<T: ToString>(&self, of: fn(&Config) -> &T) -> String {
        let mut values: Vec<String> = Vec::new();
        for value in self.results.iter().map(|(config, _)| of(config).to_string()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values.join(" or ")
    }

    fn setup(&self, command: &str) -> String {
        let source = |source: Source| format!("{}: “{}”, {}. ", source.authors, source.title, source.year);
        let entries: u64 = self.results.iter().map(|(_, summary)| summary.entries).sum();
        let events: u64 = self.results.iter().map(|(_, summary)| summary.events).sum();
        format!(
            "<p>{}{} nodes, k = {}, message delay {}, CS time {}. Each point: {} replications of {} entries after {} entries of \
             warm-up, seed {}; intervals are 95% confidence. {} simulations, {entries} entries, {events} events. \
             The same again: <code>{}</code></p>\n",
            text(&self.source().map_or_else(String::new, source)),
            self.parameter(|config| &config.nodes),
            self.parameter(|config| &config.k),
            self.parameter(|config| &config.delay),
            self.parameter(|config| &config.cs_time),
            self.parameter(|config| &config.replications),
            self.parameter(|config| &config.entries),
            self.parameter(|config| &config.warmup),
            self.parameter(|config| &config.seed),
            self.results.len(),
            text(command),
        )
    }

    fn violations(&self) -> String {
        let mut page = String::new();
        for (config, summary) in &self.results {
            for violated in &summary.violation_details {
                let flags = crate::sim::flags(config);
                let at = format!("driftlock sim{flags}: replication {}: {}", violated.replication, violated.what);
                let _ = writeln!(page, "<p class=\"does-not-hold\">Violation: {}</p>", text(&at));
            }
        }
        page
    }

    fn claims(&self) -> String {
        if self.paper.is_none() {
            return String::new();
        }
        if self.judged.is_empty() {
            return String::from(
                "<p>No claim of the paper is judged: that takes its experiments, and two replications or more.</p>\n",
            );
        }
        let condition = self.judged.iter().find_map(|judged| judged.under.as_ref()).map(|under| under.what);
        let column = condition.map(|what| format!("<th>{}", text(what))).unwrap_or_default();
        let rows: String = self.judged.iter().map(row).collect();
        format!(
            "<h2>The paper's claims</h2>\n<table><tr><th>claim<th>where{column}<th>verdict<th>what was measured</tr>\n{rows}</table>\n"
        )
    }
}

/// A claim, in the table of claims.
fn row(judged: &Judged) -> String {
    let words = judged.verdict.words();
    let under = judged.under.as_ref().map(|under| format!("<td>{}", text(&under.value))).unwrap_or_default();
    let points: String = judged.points.iter().map(point).collect();
    format!(
        "<tr><td>{}<td>{}{under}<td class=\"verdict {}\">{words}<td>{}<details><summary>all points</summary>{points}</details></tr>\n",
        text(judged.claim),
        text(judged.place),
        words.replace(' ', "-"),
        text(&judged.evidence),
    )
}

fn point(evidence: &Evidence) -> String {
    let verdict = if evidence.holds { Verdict::Holds } else { Verdict::DoesNotHold };
    let value = with_ci(evidence.value.mean, Some(evidence.value.ci95));
    format!("{}: {value} ({})<br>", text(&evidence.at), verdict.words())
}

/// Text that can stand in a page.
fn text(raw: &str) -> String {
    raw.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
