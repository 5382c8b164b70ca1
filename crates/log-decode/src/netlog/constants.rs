// SPDX-License-Identifier: Apache-2.0
//! The section `constants`: what numbers in events mean, which differs between versions of Chromium.

use super::params::Number;
use super::FORMAT;
use crate::json::{Fault, Stop, Walker};
use crate::DecodeError;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// The constants as they are written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Section {
    log_event_types: Names,
    log_event_phase: BTreeMap<String, i64>,
    #[serde(default)]
    net_error: Names,
    #[serde(default)]
    quic_error: Names,
    #[serde(default)]
    time_tick_offset: Option<Number>,
    #[serde(default)]
    client_info: ClientInfo,
    #[serde(default)]
    log_format_version: Option<Number>,
    #[serde(default)]
    log_capture_mode: Option<String>,
    #[serde(default)]
    active_field_trial_groups: Vec<Value>,
}

#[derive(Default, Deserialize)]
struct ClientInfo {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    os_type: String,
}

/// The part of an event that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Begin,
    End,
    None,
}

/// Meanings of the events.
pub(super) struct Constants {
    pub dialect: String,
    pub on_linux: bool,
    /// Offset that makes ticks milliseconds of the Unix epoch.
    pub tick_offset_ms: Option<i64>,
    event_types: Names,
    begin: Option<i64>,
    end: Option<i64>,
    net_errors: Names,
    quic_errors: Names,
}

/// Systems on which Chromium's ticks are `CLOCK_MONOTONIC`.
const LINUX: [&str; 4] = ["Linux", "Android", "CrOS", "ChromeOS"];

impl Constants {
    pub(super) fn event_type(&self, number: i64) -> Option<&str> {
        self.event_types.get(number)
    }

    pub(super) fn phase(&self, number: i64) -> Phase {
        match Some(number) {
            phase if phase == self.begin => Phase::Begin,
            phase if phase == self.end => Phase::End,
            _ => Phase::None,
        }
    }

    /// The name of an error of the network, or its number.
    pub(super) fn net_error(&self, number: i64) -> String {
        self.net_errors.name_or_number(number)
    }

    /// The name of an error of QUIC, or its number.
    pub(super) fn quic_error(&self, number: i64) -> String {
        self.quic_errors.name_or_number(number)
    }
}

/// Names in the order of the numbers that stand for them.
#[derive(Default)]
struct Names(Vec<(i64, String)>);

impl Names {
    #[inline]
    fn get(&self, number: i64) -> Option<&str> {
        // Events are numbered without gaps.
        let likely = usize::try_from(number).ok().and_then(|at| self.0.get(at));
        let found = likely.filter(|(known, _)| *known == number).or_else(|| {
            let at = self.0.binary_search_by_key(&number, |(known, _)| *known);
            at.ok().and_then(|at| self.0.get(at))
        });
        found.map(|(_, name)| name.as_str())
    }

    fn name_or_number(&self, number: i64) -> String {
        (self.get(number)).map_or_else(|| number.to_string(), str::to_owned)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Names;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object of names and their numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some((name, number)) = map.next_entry()? {
                    names.push((number, name));
                }
                // Of two names for one number, the last in their order.
                names.sort_unstable_by(|one, other| (one.0, &other.1).cmp(&(other.0, &one.1)));
                names.dedup_by_key(|(number, _)| *number);
                Ok(Names(names))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl From<Section> for Constants {
    fn from(section: Section) -> Self {
        let client = &section.client_info;
        let mut dialect = format!(
            "NetLog {}, {} {} on {}",
            section.log_format_version.unwrap_or_default().0,
            client.name,
            client.version,
            client.os_type
        );
        if let Some(mode) = &section.log_capture_mode {
            dialect.push_str(", capture mode ");
            dialect.push_str(mode);
        }
        let trials = section.active_field_trial_groups.len();
        if trials > 0 {
            dialect = format!("{dialect}, {trials} field trials");
        }
        Self {
            dialect,
            on_linux: LINUX
                .iter()
                .any(|system| client.os_type.starts_with(system)),
            tick_offset_ms: section.time_tick_offset.map(|Number(offset)| offset),
            begin: section.log_event_phase.get("PHASE_BEGIN").copied(),
            end: section.log_event_phase.get("PHASE_END").copied(),
            event_types: section.log_event_types,
            net_errors: section.net_error,
            quic_errors: section.quic_error,
        }
    }
}

/// Read the section, wherever it stands in the document; Chromium writes it first.
pub(super) fn read(input: impl Read) -> Result<Constants, DecodeError> {
    let mut section: Option<serde_json::Result<Section>> = None;
    let outcome = Walker::new(input).object(|walker, key| {
        if key != b"constants" {
            return walker.skip();
        }
        walker.item(|reader| {
            let text = reader.value()?.of(reader.text());
            section = Some(serde_json::from_slice(text));
            Ok(())
        })?;
        // Nothing behind it is wanted: the walk ends here.
        Err(Stop::Fault(Fault::End))
    });
    if let Err(Stop::Io(error)) = outcome {
        return Err(error.into());
    }
    let section = section
        .ok_or_else(|| DecodeError::foreign(FORMAT, "it has no section `constants`"))?
        .map_err(|error| {
            let text = format!("its section `constants` is not readable ({error})");
            DecodeError::foreign(FORMAT, text)
        })?;
    Ok(section.into())
}
