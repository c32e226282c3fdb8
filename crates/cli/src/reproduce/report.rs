//! The report of a reproduction: claims, numbers and figures on one self-contained page, and in short on the terminal.

use std::fmt::Write as _;

use driftlock_protocol::Algorithm;
use driftlock_sim::config::{Config, LinkInfoRule};
use driftlock_sim::summary::Summary;

use super::claims::{Judged, Verdict};
use crate::results::with_ci;

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
    pub results: &'a [(Config, Summary)],
    pub judged: &'a [Judged],
    pub drawn: &'a [Drawn],
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
        page.push_str(&self.setup());
        page.push_str(&self.violations());
        page.push_str(&self.claims());
        page.push_str(&self.at_load_tenth());
        for Drawn { title, about, svg } in self.drawn {
            let _ = write!(
                page,
                "<h2>{}</h2>\n<figure>{svg}\n<figcaption>{}</figcaption></figure>\n",
                text(title),
                text(about)
            );
        }
        page.push_str("</html>\n");
        page
    }

    /// The claims, for a terminal.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        for judged in self.judged {
            let verdict = judged.verdict.words();
            let _ =
                writeln!(out, "{verdict:>13}  {} [{} LinkInfo rule; {}]", judged.claim, judged.rule, judged.evidence);
        }
        out
    }

    fn setup(&self) -> String {
        let Some((config, _)) = self.results.first() else { return String::new() };
        let paper = Algorithm::named(&config.algorithm).map(|algorithm| algorithm.paper);
        let paper =
            paper.map_or_else(String::new, |paper| format!("{}: “{}”, {}. ", paper.authors, paper.title, paper.year));
        let entries: u64 = self.results.iter().map(|(_, summary)| summary.entries).sum();
        let events: u64 = self.results.iter().map(|(_, summary)| summary.events).sum();
        format!(
            "<p>{}{} nodes, k = {}, message delay {}, CS time {}. Each point: {} replications of {} entries after {} entries of \
             warm-up, seed {}; intervals are 95% confidence. {} simulations, {entries} entries, {events} events. \
             The same again: <code>{}</code></p>\n\
             <p>Each algorithm is measured under two LinkInfo rules. <em>Published</em>: who is told of a lowered height is as in the \
             paper's appendix, which leaves some neighbours with a wrong idea of the direction of their links. <em>Repaired</em>: a \
             neighbour is told exactly when its link has turned. All other repairs are in force in both.</p>\n",
            text(&paper),
            config.nodes,
            config.k,
            config.delay,
            config.cs_time,
            config.replications,
            config.entries,
            config.warmup,
            config.seed,
            self.results.len(),
            text(&self.command),
        )
    }

    fn violations(&self) -> String {
        let mut page = String::new();
        for (config, summary) in self.results {
            for violated in &summary.violation_details {
                let flags = crate::sim::flags(config);
                let at = format!("driftlock sim{flags}: replication {}: {}", violated.replication, violated.what);
                let _ = writeln!(page, "<p class=\"does-not-hold\">Violation: {}</p>", text(&at));
            }
        }
        page
    }

    fn claims(&self) -> String {
        if self.judged.is_empty() {
            return String::from(
                "<p>No claim of the paper is judged: that takes its experiments, and two replications or more.</p>\n",
            );
        }
        let mut page = String::from(
            "<h2>The paper's claims</h2>\n<table><tr><th>claim<th>where<th>LinkInfo rule<th>verdict<th>what was measured</tr>\n",
        );
        for judged in self.judged {
            let words = judged.verdict.words();
            let points: String = judged
                .points
                .iter()
                .map(|point| {
                    let verdict = if point.holds { Verdict::Holds } else { Verdict::DoesNotHold };
                    let value = with_ci(point.value.mean, Some(point.value.ci95));
                    format!("{}: {value} ({})<br>", text(&point.at), verdict.words())
                })
                .collect();
            let _ = writeln!(
                page,
                "<tr><td>{}<td>{}<td>{}<td class=\"verdict {}\">{words}<td>{}<details><summary>all points</summary>{points}</details></tr>",
                text(judged.claim),
                text(judged.place),
                judged.rule,
                words.replace(' ', "-"),
                text(&judged.evidence),
            );
        }
        page.push_str("</table>\n");
        page
    }

    /// The numbers behind most claims: waiting times and messages at a load of 0.1.
    fn at_load_tenth(&self) -> String {
        let find = |algorithm: &str, rule, connectivity: f64, mobility: f64| {
            self.results.iter().find(|(config, _)| {
                config.algorithm == algorithm
                    && config.link_info == rule
                    && [(config.load, 0.1), (config.connectivity, connectivity), (config.mobility, mobility)]
                        .iter()
                        .all(|(is, wanted)| (is - wanted).abs() < 1e-9)
            })
        };
        let mut rows = String::new();
        for rule in [LinkInfoRule::Repaired, LinkInfoRule::Published] {
            for (connectivity, mobility) in [(0.2, 0.0), (0.2, 0.02), (0.8, 0.0), (0.8, 0.02)] {
                for algorithm in ["krl", "krlf"] {
                    if let Some((config, summary)) = find(algorithm, rule, connectivity, mobility) {
                        rows.push_str(&row(config, summary));
                    }
                }
            }
        }
        if rows.is_empty() {
            return rows;
        }
        format!(
            "<h2>At a load of 0.1</h2>\n<table><tr><th>algorithm<th>LinkInfo rule<th>connectivity<th>mobility<th>waiting time<th>99%\
             <th>messages per entry<th>transmissions per entry<th>Jain’s index<th>tokens idle while wanted</tr>\n{rows}</table>\n"
        )
    }
}

fn row(config: &Config, summary: &Summary) -> String {
    format!(
        "<tr><td>{}<td>{}<td class=\"number\">{}%<td class=\"number\">{}<td class=\"number\">{}<td class=\"number\">{:.1}\
         <td class=\"number\">{}<td class=\"number\">{}<td class=\"number\">{:.3}<td class=\"number\">{:.1}%</tr>\n",
        config.algorithm,
        config.link_info,
        100.0 * config.connectivity,
        if config.mobility == 0.0 { "0".to_owned() } else { format!("1/{}", 1.0 / config.mobility) },
        with_ci(summary.wait.mean, summary.wait.ci95),
        summary.wait.p99,
        with_ci(summary.messages_per_entry, summary.messages_per_entry_ci95),
        with_ci(summary.transmissions_per_entry, summary.transmissions_per_entry_ci95),
        summary.jain,
        100.0 * summary.idle_token_share,
    )
}

/// Text that can stand in a page.
fn text(raw: &str) -> String {
    raw.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
