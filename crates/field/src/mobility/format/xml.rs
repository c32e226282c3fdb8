//! What the readers of XML have in common.

use std::io::BufRead;

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error, Reader, XmlVersion};

use super::TraceError;
use super::lines::{Lines, NO_TEXT, shown, unreadable};

/// What a reader meets on its way through a file.
pub(super) enum Node<'a> {
    /// An element begins; one that is empty ends at once.
    Open(&'a BytesStart<'a>),
    /// An element ends.
    Close,
    /// A piece of the text of an element.
    Text(&'a str),
    Comment(&'a str),
}

/// Hands all nodes over, until one is refused. The name of the outermost element comes back, to be told of.
pub(super) fn each<R: BufRead>(
    lines: Lines<R>,
    mut take: impl FnMut(Node<'_>) -> Result<(), String>,
) -> Result<(Lines<R>, String), TraceError> {
    let mut reader = Reader::from_reader(lines);
    let (mut buffer, mut depth, mut outermost) = (Vec::new(), 0_u64, None);
    loop {
        buffer.clear();
        let taken = match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) if depth > 0 => Err("the file ends in the middle of an element; is this all of it?".into()),
            Ok(Event::Eof) => return Ok((reader.into_inner(), outermost.unwrap_or_default())),
            Ok(Event::Start(element)) => {
                depth += 1;
                outermost.get_or_insert_with(|| name(&element).to_owned());
                take(Node::Open(&element))
            }
            Ok(Event::End(_)) => {
                depth = depth.saturating_sub(1);
                take(Node::Close)
            }
            Ok(Event::Empty(element)) => {
                outermost.get_or_insert_with(|| name(&element).to_owned());
                take(Node::Open(&element)).and_then(|()| take(Node::Close))
            }
            Ok(Event::Text(text)) if depth == 0 && !text.trim().is_empty() => {
                Err(format!("{} stands outside of all elements; is this the right file?", shown(text.trim())))
            }
            Ok(Event::Text(text)) => take(Node::Text(&text)),
            Ok(Event::CData(text)) => take(Node::Text(&text)),
            Ok(Event::GeneralRef(entity)) => match entity.resolve_char_ref() {
                Ok(Some(character)) => take(Node::Text(character.encode_utf8(&mut [0; 4]))),
                _ => take(Node::Text(resolve_xml_entity(&entity).unwrap_or_default())),
            },
            Ok(Event::Comment(text)) => take(Node::Comment(&text)),
            Ok(_) => Ok(()),
            Err(Error::Encoding(_)) => Err(NO_TEXT.into()),
            Err(Error::Io(error)) => Err(unreadable(&error)),
            Err(error) => Err(format!("this is no sound XML: {error}")),
        };
        taken.map_err(|reason| reader.get_ref().error(reason))?;
    }
}

/// What an element is called, without the space of its name.
pub(super) fn name<'a>(element: &'a BytesStart<'_>) -> &'a str {
    element.local_name().into_inner()
}

/// An attribute that must be there.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Result<String, String> {
    attribute_if_given(element, name)?.ok_or_else(|| format!("<{}> needs the attribute {name}", self::name(element)))
}

/// An attribute that may be there.
pub(super) fn attribute_if_given(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let of = self::name(element);
    let found = element.try_get_attribute(name).map_err(|error| format!("<{of}> has an unsound attribute: {error}"))?;
    let value = found.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).map(Into::into)).transpose();
    value.map_err(|error| format!("the attribute {name} of <{of}> is unsound: {error}"))
}
