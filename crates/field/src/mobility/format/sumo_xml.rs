//! Floating car data of SUMO (`--fcd-output`): time steps, and in each of them everybody who is on the road.
//! ```text
//! <fcd-export>
//!   <timestep time="0.00"><vehicle id="car0" x="5.10" y="498.35" speed="1.0"/></timestep>
//!   <timestep time="1.00"/>
//! </fcd-export>
//! ```
//! Vehicles and persons are nodes; containers and other elements and attributes are skipped. A node is there from the
//! first time step that lists it to the first that does not, and stands between its last sighting and that. Coordinates
//! are metres: not longitudes and latitudes (`--fcd-output.geo`).

use std::io::BufRead;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error, Reader, XmlVersion};

use super::TraceError;
use super::lines::{Lines, NO_TEXT, point, shown, time};
use super::sightings::Sightings;
use crate::mobility::tracks::Tracks;

/// Reads a trace. Nodes are numbered in the order in which they appear.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut reader = Reader::from_reader(Lines::new(name, reader));
    let (mut buffer, mut sightings, mut depth) = (Vec::new(), Sightings::default(), 0_u64);
    loop {
        buffer.clear();
        let taken = match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) if depth > 0 => Err("the file ends in the middle of an element; is this all of it?".into()),
            Ok(Event::Eof) => break,
            Ok(Event::Start(element)) => {
                depth += 1;
                take(&element, &mut sightings)
            }
            Ok(Event::End(_)) => {
                depth = depth.saturating_sub(1);
                Ok(())
            }
            Ok(Event::Empty(element)) => take(&element, &mut sightings),
            Ok(Event::Text(text)) if depth == 0 && !text.trim().is_empty() => {
                Err(format!("{} stands outside of all elements; is this the right file?", shown(text.trim())))
            }
            Ok(_) => Ok(()),
            Err(Error::Encoding(_)) => Err(NO_TEXT.into()),
            Err(error) => Err(format!("this is no sound XML: {error}")),
        };
        taken.map_err(|reason| reader.get_ref().error(reason))?;
    }
    let lines = reader.get_ref();
    let tracks = sightings.tracks().map_err(|error| lines.error(error.to_string()))?;
    lines.tracks(tracks)
}

fn take(element: &BytesStart<'_>, sightings: &mut Sightings) -> Result<(), String> {
    match element.name().as_ref() {
        "timestep" => sightings.step(time(&attribute(element, "time")?)?),
        "vehicle" | "person" => {
            let place = point(&attribute(element, "x")?, &attribute(element, "y")?)?;
            sightings.seen(&attribute(element, "id")?, place)
        }
        _ => Ok(()),
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<String, String> {
    let element_name = element.name();
    let element_name = element_name.as_ref();
    let found = element
        .try_get_attribute(name)
        .map_err(|error| format!("<{element_name}> has an unsound attribute: {error}"))?;
    let found = found.ok_or_else(|| format!("<{element_name}> needs the attribute {name}"))?;
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    value.map(Into::into).map_err(|error| format!("the attribute {name} of <{element_name}> is unsound: {error}"))
}
