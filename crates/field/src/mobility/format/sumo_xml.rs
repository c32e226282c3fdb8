//! Floating car data of SUMO (`--fcd-output`): time steps, and in each of them all that are on the road.
//! ```text
//! <fcd-export>
//!   <timestep time="0.00"><vehicle id="car0" x="5.10" y="498.35" speed="1.0"/></timestep>
//!   <timestep time="1.00"/>
//! </fcd-export>
//! ```
//! Vehicles and persons are nodes; containers and other elements and attributes are skipped. A node is there from the
//! first time step that lists it to the first that does not, and stands between its last sighting and that.
//!
//! Coordinates are metres, unless the configuration that SUMO writes into the file as a comment has `fcd-output.geo`:
//! then they are degrees, and are projected. Where that comment is missing and nothing else shows that they are metres,
//! the file is refused.

use std::io::BufRead;

use quick_xml::events::BytesStart;

use super::TraceError;
use super::clock::moment;
use super::geographic;
use super::lines::{Lines, point};
use super::sightings::Sightings;
use super::xml::{self, Node, attribute, attribute_if_given};
use crate::mobility::tracks::Tracks;

/// What to do where it is not known whether places are metres.
const REMEDY: &str = "for metres put <!-- <fcd-output.geo value=\"false\"/> --> in front of <fcd-export>; for degrees \
                      the same with \"true\", or write it without --fcd-output.geo";

/// Reads a trace. Nodes are numbered in the order in which they appear.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let (mut sightings, mut says) = (Sightings::default(), None);
    let (lines, outermost) = xml::each(Lines::new(name, reader), |node| {
        match node {
            Node::Open(element) => take(element, says == Some(true), &mut sightings)?,
            // What comes behind places was not known when they were read.
            Node::Comment(text) if sightings.is_empty() => says = says.max(says_geographic(text)),
            Node::Comment(_) | Node::Close | Node::Text(_) => {}
        }
        Ok(())
    })?;
    if sightings.is_empty() && outermost != "fcd-export" {
        return Err(lines.error(format!(
            "nobody is seen in this file: its outermost element is <{outermost}>, and that of SUMO's --fcd-output is \
             <fcd-export>, that of GPX <gpx>"
        )));
    }
    if says.is_none() {
        sightings.check_metres(REMEDY).map_err(|reason| lines.error(reason))?;
    }
    let tracks = sightings.tracks().map_err(|error| lines.error(error.to_string()))?;
    let tracks = lines.tracks(tracks)?;
    if says == Some(true) { geographic::in_metres(tracks).map_err(|reason| lines.error(reason)) } else { Ok(tracks) }
}

/// Whether coordinates are in degrees, if a comment is SUMO's configuration and so says it.
fn says_geographic(comment: &str) -> Option<bool> {
    let Some((_, after)) = comment.split_once("fcd-output.geo") else {
        // It has all that is not as usual, and metres are.
        return comment.contains("<fcd-output").then_some(false);
    };
    let value = after.split_once("value=\"").and_then(|(_, value)| value.split_once('"')).map(|(value, _)| value);
    let is_off = matches!(
        value.map(|value| value.trim().to_ascii_lowercase()).as_deref(),
        Some("false" | "0" | "no" | "off" | "f" | "n" | "-")
    );
    Some(!is_off)
}

fn take(element: &BytesStart<'_>, is_geographic: bool, sightings: &mut Sightings) -> Result<(), String> {
    match xml::name(element) {
        "netstate" => Err("this is what SUMO writes for --netstate-dump, which has lanes and no coordinates: \
                           write the movements with --fcd-output"
            .into()),
        "routes" => Err("these are routes for SUMO to run, and no movements: run it with them and --fcd-output".into()),
        "timestep" => sightings.step(moment(&attribute(element, "time")?)?),
        "vehicle" | "person" => {
            let (x, y) = (attribute(element, "x")?, attribute(element, "y")?);
            let place = if is_geographic { geographic::place(&x, &y)? } else { point(&x, &y)? };
            let speed = attribute_if_given(element, "speed")?.and_then(|speed| speed.parse().ok());
            sightings.seen(&attribute(element, "id")?, place, speed)
        }
        _ => Ok(()),
    }
}
