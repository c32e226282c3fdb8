//! The report of a reproduction: claims, numbers and figures on one self-contained page, and in short on the terminal.

use std::fmt::Write as _;

use driftlock_protocol::Algorithm;
use driftlock_protocol::registry::Paper as Source;
use driftlock_sim::config::Config;
use driftlock_sim::summary::Summary;

use super::claims::Judged;
use super::figure::{Figure, Inline};
use super::markup::text;
use super::paper::Paper;
use super::parameters::Parameters;
use crate::check::grouped;

mod contents;
mod data;
pub(crate) mod hok;
pub(crate) mod klme;
pub(crate) mod krl;
mod page;
mod study;
mod verdicts;

/// An experiment that was drawn.
pub(crate) struct Drawn {
    /// What its files are called, and its place in the page.
    pub name: String,
    pub title: String,
    pub about: String,
    /// The command that does it again, and no other.
    pub command: String,
    /// The names of the results that it draws.
    pub results: Vec<String>,
    pub parameters: Parameters,
    pub figures: Vec<(Figure, Inline)>,
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

impl Report<'_> {
    /// The page.
    pub(crate) fn to_html(&self) -> String {
        let mut body =
            String::from("<header class=\"head\"><span class=\"brand\">driftlock</span> reproduced</header>\n");
        for (at, section) in self.sections.iter().enumerate() {
            let _ = write!(body, "<section class=\"paper\">\n{}", section.opening());
            if at == 0 {
                let _ =
                    write!(body, "<div class=\"again\"><p>The same again:</p>{}</div>\n", page::command(&self.command));
                body.push_str(&contents::list(&self.sections));
            }
            body.push_str(&section.to_html(at));
            body.push_str("</section>\n");
        }
        page::whole(&self.command, &body)
    }

    /// The claims, for a terminal.
    pub(crate) fn to_text(&self) -> String {
        self.sections.iter().flat_map(|section| &section.judged).map(verdicts::line).collect()
    }
}

impl Section<'_> {
    /// Its title, and what was done.
    fn opening(&self) -> String {
        let source = |source: Source| format!("<p class=\"source\">{}, {}</p>\n", text(source.authors), source.year);
        format!("<h1>{}</h1>\n{}{}", text(self.heading()), self.source().map(source).unwrap_or_default(), self.setup())
    }

    /// What comes after that.
    fn to_html(&self, number: usize) -> String {
        let mut html = self.violations();
        html.push_str(&verdicts::table(self, &contents::claims_of(number)));
        if let Some(numbers) = self.paper.and_then(|paper| paper.numbers) {
            html.push_str(&numbers(&self.results));
        }
        html.extend(self.drawn.iter().map(study::to_html));
        html
    }

    /// Where the algorithms come from.
    fn source(&self) -> Option<Source> {
        let first = self.results.first().map(|(config, _)| config.algorithm.as_str());
        let tag = self.paper.map(|paper| paper.tag).or(first)?;
        Algorithm::named(tag).map(|algorithm| algorithm.paper)
    }

    fn heading(&self) -> &'static str {
        self.source().map_or("Experiments", |source| source.title)
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

    fn setup(&self) -> String {
        let entries: u64 = self.results.iter().map(|(_, summary)| summary.entries).sum();
        let events: u64 = self.results.iter().map(|(_, summary)| summary.events).sum();
        format!(
            "<p>{} nodes, k = {}, message delay {}, CS time {}. Each point: {} replications of {} entries after {} entries of \
             warm-up, seed {}; intervals are 95% confidence. {} simulations, {} entries, {} events.</p>\n{}",
            self.parameter(|config| &config.nodes),
            self.parameter(|config| &config.k),
            self.parameter(|config| &config.delay),
            self.parameter(|config| &config.cs_time),
            self.parameter(|config| &config.replications),
            self.parameter(|config| &config.entries),
            self.parameter(|config| &config.warmup),
            self.parameter(|config| &config.seed),
            self.results.len(),
            grouped(entries),
            grouped(events),
            self.paper.and_then(|paper| paper.note).unwrap_or_default(),
        )
    }

    fn violations(&self) -> String {
        let mut html = String::new();
        for (config, summary) in &self.results {
            for violated in &summary.violation_details {
                let flags = crate::sim::flags(config);
                let at = format!("driftlock sim{flags}: replication {}: {}", violated.replication, violated.what);
                let _ = writeln!(html, "<p class=\"violation\">{} Violation: {}</p>", page::DIAMOND, text(&at));
            }
        }
        html
    }
}
