//! What a report says beside the claims of Walter, Cao and Mohanty (2001).

use driftlock_sim::config::{Config, LinkInfoRule};
use driftlock_sim::summary::Summary;

use crate::results::with_ci;

pub(crate) const NOTE: &str = "\
<p>Each algorithm is measured under two LinkInfo rules. <em>Published</em>: who is told of a lowered height is as in the \
paper's appendix, which leaves some neighbours with a wrong idea of the direction of their links. <em>Repaired</em>: a \
neighbour is told exactly when its link has turned. All other repairs are in force in both.</p>\n";

/// The numbers behind most claims: waiting times and messages at a load of 0.1.
pub(crate) fn at_load_tenth(results: &[&(Config, Summary)]) -> String {
    let find = |algorithm: &str, rule, connectivity: f64, mobility: f64| {
        results.iter().find(|(config, _)| {
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
        "<h3>At a load of 0.1</h3>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\"><thead><tr><th>algorithm<th>LinkInfo \
         rule<th>connec&shy;tivity<th>mobility<th>waiting time<th>99%<th>messages per entry<th>transmissions per \
         entry<th>Jain’s index<th>tokens idle while wanted</tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
    )
}

fn row(config: &Config, summary: &Summary) -> String {
    let mobility = if config.mobility == 0.0 { "0".to_owned() } else { format!("1/{}", 1.0 / config.mobility) };
    let cells = [
        format!("{}%", 100.0 * config.connectivity),
        mobility,
        with_ci(summary.wait.mean, summary.wait.ci95),
        format!("{:.1}", summary.wait.p99),
        with_ci(summary.messages_per_entry, summary.messages_per_entry_ci95),
        with_ci(summary.transmissions_per_entry, summary.transmissions_per_entry_ci95),
        format!("{:.3}", summary.jain),
        format!("{:.1}%", 100.0 * summary.idle_token_share),
    ];
    let cells: String = cells.iter().map(|cell| format!("<td class=\"number\">{cell}")).collect();
    format!("<tr><td>{}<td>{}{cells}</tr>\n", config.algorithm, config.link_info)
}
