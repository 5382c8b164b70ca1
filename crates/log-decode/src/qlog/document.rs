// SPDX-License-Identifier: Apache-2.0
//! One JSON document with `traces`: walked once for the headers and once for the events, never held whole.

use super::events::Decoder;
use super::header::{CommonFields, TraceHeader, VantagePoint};
use super::FORMAT;
use crate::DecodeError;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt::{Formatter, Result as FmtResult};
use std::io::Read;

/// Traces of one document; a hostile file cannot make the list of headers long.
const MAX_TRACES: usize = 1 << 10;

/// The headers of all traces, as far as the document can be read.
pub(super) fn headers(input: &mut impl Read) -> Result<Vec<TraceHeader>, DecodeError> {
    let mut walk = Walk {
        headers: Vec::new(),
        next_trace: 0,
        decoder: None,
    };
    let outcome = walk.document(input);
    match outcome {
        Err(error) if error.is_io() => Err(DecodeError::Io(error.into())),
        _ if walk.headers.is_empty() => Err(DecodeError::foreign(
            FORMAT,
            "it is a JSON document without traces",
        )),
        _ => Ok(walk.headers),
    }
}

/// The events of all traces; `known` are the headers that [`headers`] found.
pub(super) fn decode(
    input: &mut impl Read,
    known: &[TraceHeader],
    decoder: &mut Decoder,
) -> Result<(), DecodeError> {
    let mut walk = Walk {
        headers: known.to_vec(),
        next_trace: 0,
        decoder: Some(decoder),
    };
    let outcome = walk.document(input);
    match outcome {
        Err(error) if error.is_io() => return Err(DecodeError::Io(error.into())),
        Err(_) => decoder.count_broken_document(),
        Ok(()) => {}
    }
    Ok(())
}

struct Walk<'d> {
    headers: Vec<TraceHeader>,
    next_trace: usize,
    /// Absent in the pass that looks for headers.
    decoder: Option<&'d mut Decoder>,
}

impl Walk<'_> {
    fn document(&mut self, input: &mut impl Read) -> serde_json::Result<()> {
        let mut deserializer = serde_json::Deserializer::from_reader(input);
        deserializer.deserialize_map(Document(self))?;
        deserializer.end()
    }
}

struct Document<'w, 'd>(&'w mut Walk<'d>);

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("a qlog document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<String>()? {
            if key == "traces" {
                members.next_value_seed(Traces(self.0))?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Traces<'w, 'd>(&'w mut Walk<'d>);

impl<'de> DeserializeSeed<'de> for Traces<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Traces<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("traces")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut traces: A) -> Result<(), A::Error> {
        while self.0.next_trace < MAX_TRACES && traces.next_element_seed(Trace(self.0))?.is_some() {
        }
        while traces.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

struct Trace<'w, 'd>(&'w mut Walk<'d>);

impl<'de> DeserializeSeed<'de> for Trace<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Trace<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("a trace")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let walk = self.0;
        let index = walk.next_trace;
        walk.next_trace += 1;
        if walk.headers.len() <= index {
            walk.headers.push(TraceHeader::default());
        }
        if let Some(decoder) = &mut walk.decoder {
            decoder.start_trace(&walk.headers[index]);
        }
        while let Some(key) = members.next_key::<String>()? {
            match (key.as_str(), &mut walk.decoder) {
                ("vantage_point", None) => {
                    walk.headers[index].vantage_point = members.next_value::<VantagePoint>()?;
                }
                ("common_fields", None) => {
                    walk.headers[index].common_fields = members.next_value::<CommonFields>()?;
                }
                ("events", Some(decoder)) => members.next_value_seed(Events(decoder))?,
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Events<'d>(&'d mut Decoder);

impl<'de> DeserializeSeed<'de> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        while let Some(event) = events.next_element::<Box<RawValue>>()? {
            if self.0.event(event.get()).is_err() {
                self.0.count_malformed();
            }
        }
        Ok(())
    }
}
