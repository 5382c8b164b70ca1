// SPDX-License-Identifier: Apache-2.0
//! What stands before the events: who logged, which connection, and which clock.

use serde::Deserialize;
use std::borrow::Cow;

/// The first record of a JSON text sequence.
#[derive(Deserialize)]
pub(super) struct FileHeader<'a> {
    #[serde(borrow, default)]
    pub qlog_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub file_schema: Option<Cow<'a, str>>,
    #[serde(default)]
    pub trace: TraceHeader,
}

/// The part of a trace that applies to all its events.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct TraceHeader {
    #[serde(default)]
    pub vantage_point: VantagePoint,
    #[serde(default)]
    pub common_fields: CommonFields,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct VantagePoint {
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct CommonFields {
    #[serde(default, alias = "ODCID")]
    pub group_id: Option<String>,
    #[serde(default)]
    pub time_format: Option<String>,
    #[serde(default)]
    pub reference_time: Option<ReferenceTime>,
}

/// Milliseconds in 0.3, an object since main-schema-10.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ReferenceTime {
    Milliseconds(f64),
    Clock {
        #[serde(default)]
        epoch: Option<String>,
        #[serde(default)]
        wall_clock_time: Option<String>,
    },
}
