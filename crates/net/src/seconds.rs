//! Spans of time as configuration files have them: in seconds.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

use crate::Span;

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
pub(crate) fn serialize<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.units())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    if seconds.is_finite() && seconds >= 0.0 {
        Ok(Span::from_units(seconds))
    } else {
        Err(D::Error::custom("a span of time is a finite number of seconds, and not negative"))
    }
}

/// The same for a span that may be left to its default.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Serializer, Span};

    #[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref)] // as serde wants it
    pub(crate) fn serialize<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => serializer.serialize_some(&span.units()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Span>, D::Error> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Seconds(#[serde(with = "super")] Span);
        Ok(Option::<Seconds>::deserialize(deserializer)?.map(|seconds| seconds.0))
    }
}
