// SPDX-License-Identifier: Apache-2.0
//! Contents of a trace before its events: the program that logged, the connection, and the clock.
//!
//! Members may be missing or of another type than the drafts say: those count as missing, and the rest is read.

use super::event::Field;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A file's own part: the first record of a sequence, or the top of a document without its traces.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct FileHeader {
    #[serde(default, deserialize_with = "text")]
    pub qlog_version: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub file_schema: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub code_version: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub trace: TraceHeader,
}

impl FileHeader {
    /// True if it says of itself that it is a qlog.
    pub(super) fn is_qlog(&self) -> bool {
        self.qlog_version.is_some() || self.file_schema.is_some()
    }

    /// True if its version is none of the drafts': those are `draft-…` and `0.…`.
    pub(super) fn is_of_unknown_version(&self) -> bool {
        let version = self.qlog_version.as_deref();
        version.is_some_and(|version| !version.starts_with("draft-") && !version.starts_with("0."))
    }

    /// The version of what is inside: that of the events' schema since there are several.
    pub(super) fn version(&self, trace: &TraceHeader) -> String {
        let schema = trace.event_schemas.first().and_then(Value::as_str);
        let events = schema.and_then(|schema| schema.rsplit(':').next());
        match (events, &self.qlog_version) {
            (Some(events), _) => format!("events {events}"),
            (None, Some(version)) => version.clone(),
            (None, None) => "file_schema".to_owned(),
        }
    }
}

/// The part of a trace that applies to all its events.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct TraceHeader {
    #[serde(default, deserialize_with = "or_default")]
    pub vantage_point: VantagePoint,
    #[serde(default, deserialize_with = "or_default")]
    pub common_fields: CommonFields,
    #[serde(default, deserialize_with = "or_default")]
    pub configuration: Configuration,
    #[serde(default, deserialize_with = "text")]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub event_schemas: Vec<Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub event_fields: Vec<Value>,
}

impl TraceHeader {
    /// Meanings of the places of an event in array form.
    pub(super) fn fields(&self) -> Vec<Field> {
        let names = self.event_fields.iter();
        names
            .map(|name| Field::of(name.as_str().unwrap_or_default().as_bytes()))
            .collect()
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct VantagePoint {
    #[serde(default, deserialize_with = "text")]
    pub name: Option<String>,
    #[serde(default, rename = "type", deserialize_with = "text")]
    pub kind: Option<String>,
    /// The end whose packets are "sent" where the log was taken between the two.
    #[serde(default, deserialize_with = "text")]
    pub flow: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct CommonFields {
    #[serde(default, deserialize_with = "text")]
    pub group_id: Option<String>,
    #[serde(default, rename = "ODCID", alias = "odcid", deserialize_with = "text")]
    pub odcid: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub time_format: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub time_units: Option<String>,
    #[serde(default)]
    pub reference_time: Option<Value>,
}

/// The configuration of a trace in the drafts before 0.4.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Configuration {
    #[serde(default, deserialize_with = "text")]
    pub time_units: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub time_offset: Option<String>,
}

/// A text, or a number as text; nothing for everything else.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// The default for what is not of the type that it should be.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + serde::de::DeserializeOwned,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}
