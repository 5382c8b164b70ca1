// SPDX-License-Identifier: Apache-2.0
//! The section `constants`: what numbers in events mean, which differs between versions of Chromium.

use super::params::Number;
use super::FORMAT;
use crate::json::{members, Broken, Scanner};
use crate::DecodeError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

/// As it is written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Section {
    log_event_types: BTreeMap<String, i64>,
    log_event_phase: BTreeMap<String, i64>,
    #[serde(default)]
    net_error: BTreeMap<String, i64>,
    #[serde(default)]
    quic_error: BTreeMap<String, i64>,
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

/// Which part of an event that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Begin,
    End,
    None,
}

/// What the events mean.
pub(super) struct Constants {
    pub dialect: String,
    pub on_linux: bool,
    /// What makes ticks milliseconds of the Unix epoch.
    pub tick_offset_ms: Option<i64>,
    event_types: HashMap<i64, String>,
    begin: Option<i64>,
    end: Option<i64>,
    net_errors: HashMap<i64, String>,
    quic_errors: HashMap<i64, String>,
}

/// Systems on which Chromium's ticks are `CLOCK_MONOTONIC`.
const LINUX: [&str; 4] = ["Linux", "Android", "CrOS", "ChromeOS"];

impl Constants {
    pub(super) fn event_type(&self, number: i64) -> Option<&str> {
        self.event_types.get(&number).map(String::as_str)
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
        name_or_number(&self.net_errors, number)
    }

    /// The name of an error of QUIC, or its number.
    pub(super) fn quic_error(&self, number: i64) -> String {
        name_or_number(&self.quic_errors, number)
    }
}

fn name_or_number(names: &HashMap<i64, String>, number: i64) -> String {
    names
        .get(&number)
        .cloned()
        .unwrap_or_else(|| number.to_string())
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
            event_types: by_number(section.log_event_types),
            net_errors: by_number(section.net_error),
            quic_errors: by_number(section.quic_error),
        }
    }
}

fn by_number(names: BTreeMap<String, i64>) -> HashMap<i64, String> {
    names
        .into_iter()
        .map(|(name, number)| (number, name))
        .collect()
}

/// Read the section, wherever it stands in the document; Chromium writes it first.
pub(super) fn read(input: impl BufRead) -> Result<Constants, DecodeError> {
    let mut text = Vec::new();
    let mut found = false;
    let outcome = members(&mut Scanner::new(input), |scanner, key| {
        if key != b"\"constants\"" {
            return scanner.value(None).map(drop);
        }
        found = scanner.value(Some(&mut text))?;
        // Nothing behind it is wanted: the walk ends here.
        Err(Broken::Syntax)
    });
    match outcome {
        Err(Broken::Io(error)) => return Err(error.into()),
        _ if !found => {
            return Err(DecodeError::foreign(
                FORMAT,
                "it has no section `constants`",
            ))
        }
        _ => {}
    }
    let section: Section = serde_json::from_slice(&text).map_err(|error| {
        DecodeError::foreign(
            FORMAT,
            format!("its section `constants` is not readable ({error})"),
        )
    })?;
    Ok(section.into())
}
