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
use super::violated::Violated;
use crate::check::grouped;

mod contents;
pub(crate) mod crowd;
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
    pub violations: Vec<Violated>,
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
                let command = page::command(&self.command);
                let _ = writeln!(body, "<div class=\"again\"><p>The same again:</p>{command}</div>");
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
        Algorithm::named(self.paper?.tag).map(|algorithm| algorithm.paper)
    }

    fn heading(&self) -> &'static str {
        let ours = self.paper.and_then(|paper| paper.heading).unwrap_or("Experiments");
        self.source().map_or(ours, |source| source.title)
    }

    /// What stands above its claims.
    fn claims_heading(&self) -> &'static str {
        if self.source().is_some() { "The paper’s claims" } else { "What is promised" }
    }

    /// A parameter of the simulations: its value, or its values.
    fn parameter<T: ToString>(&self, of: fn(&Config) -> &T) -> String {
        let mut values: Vec<String> = Vec::new();
        for value in self.results.iter().map(|(config, _)| of(config).to_string()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values.sort_by_key(|value| value.parse::<u64>().ok());
        match values.split_last() {
            Some((last, others)) if !others.is_empty() => text(&format!("{} or {last}", others.join(", "))),
            _ => text(&values.concat()),
        }
    }

    fn setup(&self) -> String {
        let entries: u64 = self.results.iter().map(|(_, summary)| summary.entries).sum();
        let events: u64 = self.results.iter().map(|(_, summary)| summary.events).sum();
        format!(
            "<p>{} nodes, k = {}, {}, CS time {}. Each point: {} replications of {} entries after {} entries{} of warm-up, \
             seed {}; intervals are 95% confidence. {} simulations, {} entries, {} events.</p>\n{}",
            self.parameter(|config| &config.nodes),
            self.parameter(|config| &config.k),
            self.messages(),
            self.parameter(|config| &config.cs_time),
            self.parameter(|config| &config.replications),
            self.parameter(|config| &config.entries),
            self.parameter(|config| &config.warmup),
            self.warmup_time(),
            self.parameter(|config| &config.seed),
            self.results.len(),
            grouped(entries),
            grouped(events),
            self.paper.and_then(|paper| paper.note).unwrap_or_default(),
        )
    }

    /// How messages travel.
    fn messages(&self) -> String {
        let is_on_field = self.results.iter().all(|(config, _)| config.field.is_some());
        let delay = || format!("message delay {}", self.parameter(|config| &config.delay));
        if is_on_field { "messages over radios".into() } else { delay() }
    }

    /// How long the warm-up takes at least, if that was asked for.
    fn warmup_time(&self) -> String {
        let is_timed = self.results.iter().any(|(config, _)| config.warmup_time > 0.0);
        let time = || format!(" and a time of {}", self.parameter(|config| &config.warmup_time));
        if is_timed { time() } else { String::new() }
    }

    fn violations(&self) -> String {
        let paragraph = |violated: &Violated| {
            let (what, command) = (text(&violated.what), page::command(&violated.command));
            format!("<p class=\"violation\">{} Violation: {what}; to record it:</p>{command}\n", page::DIAMOND)
        };
        self.violations.iter().map(paragraph).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::claims::{Evidence, Verdict};
    use crate::reproduce::figure::{Panel, Point, Series, Style};
    use crate::reproduce::named::Number;
    use crate::reproduce::paper::PAPERS;

    const MARKUP: &str = "<img src=x onerror=\"alert(1)\">";

    /// Everything that can hold a text from outside holds markup.
    fn drawn(name: &str) -> Drawn {
        let point = Point { x: 1.0, y: 2.5, ci95: 0.5 };
        let series = Series { label: MARKUP.into(), style: Style::of_colour(0), points: vec![point] };
        let [title, part, x_label, y_label] = [MARKUP; 4].map(str::to_owned);
        let panels = vec![Panel { title: MARKUP.into(), series: vec![series] }];
        let figure = Figure { title, part, x_label, y_label, x_log: false, y_log: false, x_names: Vec::new(), panels };
        let inline = Inline::of(&figure).unwrap();
        let parameters = Parameters { varied: Vec::new(), fixed: vec![("seed".into(), "17".into())] };
        let [title, about, command] = [MARKUP.into(), MARKUP.into(), format!("driftlock reproduce {name}.toml")];
        let results = vec!["wait.mean".into()];
        Drawn { name: name.into(), title, about, command, results, parameters, figures: vec![(figure, inline)] }
    }

    fn judged(claim: &'static str, verdict: Verdict) -> Judged {
        let evidence = || Evidence { at: MARKUP.into(), value: Number { mean: 0.5, ci95: 0.1 }, holds: true };
        let points = vec![evidence(), evidence()];
        Judged { claim, place: "Section 6", under: None, verdict, evidence: MARKUP.into(), points }
    }

    fn page(figures: usize) -> String {
        let judged = vec![judged("a < b", Verdict::Holds), judged(MARKUP, Verdict::Mixed)];
        let drawn = (0..figures).map(|at| drawn(&format!("mine-{at}"))).collect();
        let violated = Violated { what: MARKUP.into(), command: format!("driftlock sim --config '{MARKUP}'") };
        let violations = vec![violated];
        let section = Section { paper: Some(&PAPERS[0]), results: Vec::new(), violations, judged, drawn };
        Report { command: format!("driftlock reproduce '{MARKUP}'"), sections: vec![section] }.to_html()
    }

    #[test]
    fn no_text_becomes_markup() {
        assert!(!page(1).contains("<img"));
        assert!(page(1).contains("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"));
    }

    #[test]
    fn the_page_fetches_nothing() {
        for banned in ["http:", "https:", " src=\"", "<link", "<iframe", "url(", "@import", " style=\""] {
            assert!(!page(1).contains(banned), "{banned:?}");
        }
    }

    #[test]
    fn claims_have_verdicts_in_word_and_shape() {
        let page = page(1);
        assert!(page.contains("<th scope=\"rowgroup\" rowspan=\"1\">a &lt; b<td"));
        for (class, shape, word) in [("holds", page::DISC, "holds"), ("mixed", page::HALF, "mixed")] {
            assert!(page.contains(&format!("<td><span class=\"verdict {class}\">{shape}{word}</span>")), "{word}");
        }
    }

    #[test]
    fn every_experiment_says_how_to_do_it_again() {
        let page = page(2);
        for said in ["<code>driftlock reproduce mine-0.toml</code>", "<code>driftlock reproduce mine-1.toml</code>"] {
            assert_eq!(page.matches(said).count(), 1, "{said}");
        }
        assert!(page.contains("<code>seed</code> 17") && page.contains("<code>wait.mean</code>"));
        assert!(page.contains("<td class=\"number\">2.500 ± 0.500"), "the data behind the figure");
    }

    #[test]
    fn many_figures_have_a_table_of_contents_whose_links_lead_somewhere() {
        assert!(!page(3).contains("<nav"));
        let page = page(4);
        let links: Vec<_> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(links, ["claims-1", "mine-0", "mine-1", "mine-2", "mine-3"]);
        assert!(links.iter().all(|id| page.matches(&format!("id=\"{id}\"")).count() == 1));
    }
}
