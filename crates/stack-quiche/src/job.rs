// SPDX-License-Identifier: Apache-2.0
//! The job file: what to fetch or to serve, and the knobs. Null is the library's own choice.

use std::time::Duration;

use serde::Deserialize;
use stack_common::job::{Group, Job, Scheduler, Service, Transfer, Unknown};

use crate::held_acks::HeldAcks;
use crate::library;
use crate::notice::AddressChange;

/// The library, in refusals.
const LIBRARY: &str = "quiche";

/// The largest UDP payload: what the length field of UDP leaves.
const MAX_UDP_PAYLOAD: usize = 65527;

/// The largest `max_ack_delay`: below 2^14 milliseconds (RFC 9000 section 18.2).
const MAX_ACK_DELAY_NS: u64 = 16_383_000_000;

/// One download.
#[derive(Debug, Deserialize)]
pub struct ClientJob {
    #[serde(flatten)]
    pub transfer: Transfer,
    pub session: Session,
    /// Somebody else changes the address; `migration` says what this client does then.
    pub address_change: Option<AddressChange>,
    pub ack_delay_ns: Option<u64>,
    pub ack_frequency: Option<usize>,
    #[serde(flatten)]
    pub knobs: Knobs,
    #[serde(flatten)]
    unknown: Unknown,
}

/// One server.
#[derive(Debug, Deserialize)]
pub struct ServerJob {
    #[serde(flatten)]
    pub service: Service,
    pub max_streams: Option<u64>,
    pub gso: Option<bool>,
    pub scheduler: Option<Scheduler>,
    #[serde(flatten)]
    pub knobs: Knobs,
    #[serde(flatten)]
    unknown: Unknown,
}

/// Settings of both ends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Knobs {
    pub congestion_control: Option<CongestionControl>,
    pub initial_window: Option<usize>,
    pub pacing: Option<bool>,
    pub hystart: Option<bool>,
    pub connection_window_bytes: Option<u64>,
    pub stream_window_bytes: Option<u64>,
    pub groups: Option<Vec<Group>>,
    pub initial_rtt_ns: Option<u64>,
    pub max_payload_bytes: Option<usize>,
}

/// quiche's `bbr` is another name of its `bbr2` and is therefore not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    Reno,
    Cubic,
    Bbr2,
}

impl CongestionControl {
    /// quiche's word for it, which is ours too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr2 => "bbr2",
        }
    }
}

/// Use of the session of an earlier visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    Fresh,
    Resumed,
    EarlyData,
}

impl Job for ClientJob {
    fn check(&self) -> Result<(), String> {
        self.transfer.check(LIBRARY, &self.unknown)?;
        self.knobs.check()?;
        if self.ack_frequency == Some(0)
            || self.ack_delay_ns.is_some_and(|ns| ns > MAX_ACK_DELAY_NS)
        {
            return Err("ack_frequency is at least 1, ack_delay less than 16.384 s".to_owned());
        }
        let transfer = &self.transfer;
        if transfer.session_file.is_none() && (transfer.priming || self.session != Session::Fresh) {
            return Err("a session needs session_file".to_owned());
        }
        if transfer.other_urls.is_some() && (transfer.priming || self.session == Session::EarlyData)
        {
            return Err("several objects exclude a first visit and early data".to_owned());
        }
        if self.address_change.is_some() && transfer.migration.is_none() {
            return Err("a client whose address changes needs a migration".to_owned());
        }
        self.paths().map(|_| ())
    }
}

impl ClientJob {
    /// Authority and path of each URL.
    pub fn paths(&self) -> Result<Vec<(&str, &str)>, String> {
        self.transfer.urls().map(authority_and_path).collect()
    }

    /// The acknowledgements that it is to hold back.
    pub fn held_acks(&self) -> Option<HeldAcks> {
        HeldAcks::new(
            self.ack_frequency,
            self.ack_delay_ns.map(Duration::from_nanos),
        )
    }
}

fn authority_and_path(url: &str) -> Result<(&str, &str), String> {
    let rest = url
        .strip_prefix("https://")
        .ok_or_else(|| format!("{url} is not an https URL"))?;
    Ok(rest
        .find('/')
        .map_or((rest, "/"), |slash| rest.split_at(slash)))
}

impl Job for ServerJob {
    fn check(&self) -> Result<(), String> {
        self.service.check(LIBRARY, &self.unknown)?;
        self.knobs.check()?;
        if self.max_streams == Some(0) {
            return Err("max_streams must be at least 1".to_owned());
        }
        Ok(())
    }
}

impl Knobs {
    fn check(&self) -> Result<(), String> {
        let bbr2 = self.congestion_control == Some(CongestionControl::Bbr2);
        if self.pacing == Some(true) && !bbr2 && !library::PACES_ALL {
            return Err("quiche paces bbr2 only".to_owned());
        }
        if self.hystart.is_some() && bbr2 {
            return Err("quiche's bbr2 has no hystart".to_owned());
        }
        if self.initial_window == Some(0) {
            return Err("initial_window must be at least 1 packet".to_owned());
        }
        if self.initial_rtt_ns.is_some() && !library::SETS_INITIAL_RTT {
            return Err("this release of quiche has no initial_rtt".to_owned());
        }
        if self.initial_rtt_ns == Some(0) {
            return Err("initial_rtt must be longer than 0".to_owned());
        }
        if self.groups.as_ref().is_some_and(Vec::is_empty) {
            return Err("groups must name at least one".to_owned());
        }
        match self.max_payload_bytes {
            Some(bytes) if !(quiche::MIN_CLIENT_INITIAL_LEN..=MAX_UDP_PAYLOAD).contains(&bytes) => {
                Err(format!(
                    "max_payload must be from {} to {MAX_UDP_PAYLOAD} bytes",
                    quiche::MIN_CLIENT_INITIAL_LEN
                ))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
