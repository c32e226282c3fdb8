//! An experiment in the page: its figures, the data behind them, its parameters, and the command that does it again.

use std::fmt::Write as _;

use super::Drawn;
use super::data;
use super::page;
use crate::reproduce::figure::{Figure, Inline};
use crate::reproduce::markup::text;

pub(super) fn to_html(drawn: &Drawn) -> String {
    let Drawn { name, title, about, .. } = drawn;
    let mut html = format!("<section class=\"study\" id=\"{name}\">\n<h2>{}</h2>\n", text(title));
    let _ = writeln!(html, "<p class=\"about\">{}</p>", text(about));
    html.extend(drawn.figures.iter().map(|(figure, inline)| one(figure, inline)));
    html.push_str(&measured(drawn));
    html.push_str("</section>\n");
    html
}

/// A figure, and its data behind a fold.
fn one(figure: &Figure, inline: &Inline) -> String {
    let caption = if figure.part.is_empty() { String::new() } else { caption(&figure.part) };
    let legend: String =
        inline.legend.iter().map(|(label, swatch)| format!("<li>{swatch}{}</li>\n", text(label))).collect();
    format!(
        "<figure>\n{caption}<div class=\"panels of-{}\">\n{}\n</div>\n<ul class=\"legend\">\n{legend}</ul>\n</figure>\n{}",
        inline.panels.len().min(4),
        inline.panels.join("\n"),
        data::fold(figure),
    )
}

fn caption(part: &str) -> String {
    format!("<figcaption>{}</figcaption>\n", text(part))
}

/// How it was measured.
fn measured(drawn: &Drawn) -> String {
    let mut facts = String::new();
    let code = |word: &str| format!("<code>{}</code>", text(word));
    let mut fact = |what: &str, value: &str| {
        let _ = writeln!(facts, "<div><dt>{what}</dt><dd>{value}</dd></div>");
    };
    fact("drawn", &drawn.results.iter().map(|result| code(result)).collect::<Vec<_>>().join(", "));
    let pair = |(name, value): (&str, &str)| format!("<span class=\"pair\">{} {}</span>", code(name), text(value));
    let varied = drawn.parameters.varied.iter().map(|(name, values)| (name.as_str(), values.join(", ")));
    fact("varied", &varied.map(|(name, values)| pair((name, &values))).collect::<Vec<_>>().join(" "));
    let fixed = drawn.parameters.fixed.iter().map(|(name, value)| pair((name, value)));
    fact("fixed", &fixed.collect::<Vec<_>>().join(" "));
    fact("all results", &files(&drawn.name));
    fact("again", &page::command(&drawn.command));
    format!("<dl class=\"facts\">\n{facts}</dl>\n")
}

/// Where all results are, beside the page.
fn files(name: &str) -> String {
    format!("<a href=\"{name}.csv\">{name}.csv</a>, <a href=\"{name}.parquet\">{name}.parquet</a>")
}
