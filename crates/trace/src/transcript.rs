//! A trace as text: what happened, and at every node the clauses it executed and what it did.

use serde_json::Value;

use crate::chart::{Words, heading, label, variant, words_for};
use crate::{Line, ReadError, Reader, Step};

/// Reads a whole trace and tells it, one numbered action after the other.
pub fn tell(mut reader: Reader) -> Result<String, ReadError> {
    let mut text = format!("{}\n\n", heading(reader.header()));
    let words = Words::of_trace(reader.header());
    let (mut actions, mut in_change) = (0, false);
    while let Some(line) = reader.next_line()? {
        match line {
            Line::Link(change) => {
                actions += 1;
                in_change = true;
                let (a, b) = (change.link.0.min(change.link.1), change.link.0.max(change.link.1));
                text += &format!("{actions:>3}. link {a}\u{2013}{b} {}\n", if change.up { "forms" } else { "fails" });
            }
            Line::Member(change) => {
                actions += 1;
                in_change = true;
                text += &format!("{actions:>3}. node {} {}\n", change.member, words.presence(&change));
            }
            Line::Loss(loss) => {
                actions += 1;
                in_change = false;
                let (what, (from, to), of) = (label(&loss.message).text, loss.lost, words.of(loss.resource));
                text += &format!("{actions:>3}. {what} from {from} to {to} is lost{of}\n");
            }
            Line::Join(join) => {
                actions += 1;
                in_change = false;
                text += &format!("{actions:>3}. node {} joins\n", join.join);
            }
            Line::Step(step) => {
                let (what, follows) = happening(&step);
                let what = what + &words.of(step.resource);
                if !(follows && in_change) {
                    actions += 1;
                    in_change = false;
                    text += &format!("{actions:>3}. {what}\n");
                } else if what.starts_with("returned") {
                    text += &format!("     {what}\n");
                }
                text += &format!("     node {}: {}\n", step.node, deeds(&step));
            }
            Line::Scene(_) => {}
            Line::End { end } => {
                if let Some(violation) = end.violation {
                    text += &format!("\nviolated: {violation}{}\n", words.of(end.resource));
                }
            }
        }
    }
    Ok(text)
}

/// What happened to the node, and whether it may be part of what happened to a link.
fn happening(step: &Step<Value, Value>) -> (String, bool) {
    let (kind, content) = variant(&step.input).unwrap_or(("step", &Value::Null));
    let said = || label(&content["message"]).text;
    let number = |name: &str| content.get(name).map(Value::to_string).unwrap_or_default();
    match kind {
        "message" => (format!("{} from {} arrives at {}", said(), number("from"), step.node), false),
        "undelivered" => (format!("returned to {}: {} for {}", step.node, said(), number("to")), true),
        "below" if content == "leaving" => (format!("node {} is about to leave", step.node), false),
        "below" => (format!("the links of node {} change", step.node), true),
        _ => (format!("node {} {}", step.node, words_for(kind, content)), false),
    }
}

/// The clauses that a step executed, and its effects.
fn deeds(step: &Step<Value, Value>) -> String {
    if let Some(refusal) = &step.refused {
        return format!("refused: {refusal}");
    }
    let mut deeds = Vec::new();
    for effect in step.out.as_array().into_iter().flatten() {
        match variant(effect) {
            Some(("clause", Value::String(clause))) => deeds.push(clause.clone()),
            Some(("send", content)) => {
                let to = content.get("to").map(Value::to_string).unwrap_or_default();
                deeds.push(format!("sends {} to {to}", label(&content["message"]).text));
            }
            Some(("broadcast", content)) => deeds.push(format!("broadcasts {}", label(&content["message"]).text)),
            Some(("revoke", _)) => deeds.push("must stop, and waits again".into()),
            Some(("depart", _)) => deeds.push("departs".into()),
            Some(("grant", _)) => deeds.push("is granted".into()),
            Some(("arm", _)) => deeds.push("arms a timer".into()),
            Some(("disarm", _)) => deeds.push("disarms a timer".into()),
            _ => {}
        }
    }
    if deeds.is_empty() { "nothing".into() } else { deeds.join(", ") }
}
