// SPDX-License-Identifier: Apache-2.0
//! Settings of a job, and the bounds within which quinn takes them.

use std::num::NonZeroU32;

use serde::Deserialize;
use stack_common::job::{Group, Scheduler};

use crate::ends::LACKS;

/// The library's own where None.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Knobs {
    pub congestion_control: Option<CongestionControl>,
    /// Packets of the size with which the connection starts.
    pub initial_window: Option<NonZeroU32>,
    pub max_window_bytes: Option<u64>,
    /// Granted to the peer, all streams together.
    pub connection_window_bytes: Option<u64>,
    /// Granted to the peer, each stream.
    pub stream_window_bytes: Option<u64>,
    /// Request streams that the peer may have open.
    pub max_streams: Option<NonZeroU32>,
    pub groups: Option<Vec<Group>>,
    pub packet_threshold: Option<NonZeroU32>,
    pub time_threshold: Option<f32>,
    pub initial_rtt_ns: Option<u64>,
    pub gso: Option<bool>,
    /// UDP payload of full packets from the first on, without discovery.
    pub max_payload_bytes: Option<u16>,
    pub scheduler: Option<Scheduler>,
    /// True if path MTU discovery is on.
    pub path_mtu_discovery: Option<bool>,
    /// True if datagrams leave with ECT(0).
    pub ecn: Option<bool>,
    /// Ack-eliciting packets that the peer is asked to receive before it acknowledges at once.
    pub peer_ack_frequency: Option<NonZeroU32>,
    /// The longest time that the peer is asked to hold an acknowledgement back.
    pub peer_ack_delay_ns: Option<u64>,
    pacing: Option<bool>,
    hystart: Option<bool>,
    tls_version: Option<TlsVersion>,
    ack_delay_ns: Option<u64>,
    ack_frequency: Option<u32>,
}

/// Congestion controllers that quinn has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    Reno,
    Cubic,
    Bbr,
}

impl CongestionControl {
    /// The name in specs and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

/// QUIC has no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum TlsVersion {
    #[serde(rename = "1.3")]
    V1_3,
}

/// The size with which quinn starts, and the largest that it looks for, unless the job says.
pub const FIRST_PAYLOAD: u16 = 1200;
const LARGEST_PAYLOAD: u16 = 1452;

impl Knobs {
    /// Refuses what quinn cannot do, and numbers on which its arithmetic would fail.
    pub fn check(&self) -> Result<(), String> {
        self.check_release()?;
        if self.pacing == Some(false) {
            return refuse("quinn always paces");
        }
        if self.hystart == Some(true) {
            return refuse("quinn has no HyStart");
        }
        if self.ack_delay_ns.is_some() || self.ack_frequency.is_some() {
            return refuse("quinn's own acknowledgements cannot be set, only those of its peer");
        }
        if self.path_mtu_discovery == Some(true) && self.max_payload_bytes.is_some() {
            return refuse(
                "max_payload fixes the size, so path_mtu_discovery has no larger one to look for",
            );
        }
        // A peer may take less than its timer's grain for a violation of the protocol.
        between(
            "peer_ack_delay_ns",
            self.peer_ack_delay_ns,
            1_000_000,
            60_000_000_000,
        )?;
        if self.groups.as_ref().is_some_and(Vec::is_empty) {
            return refuse("groups is empty");
        }
        between(
            "max_payload_bytes",
            self.max_payload_bytes.map(Into::into),
            1200,
            65_527,
        )?;
        let two_packets = 2 * u64::from(self.max_payload_bytes.unwrap_or(LARGEST_PAYLOAD));
        between(
            "max_window_bytes",
            self.max_window_bytes,
            two_packets,
            u64::MAX,
        )?;
        between(
            "initial_rtt_ns",
            self.initial_rtt_ns,
            1_000_000,
            60_000_000_000,
        )?;
        match self.time_threshold {
            Some(factor) if !(1.0..=100.0).contains(&factor) => refuse(&format!(
                "time_threshold is {factor}: quinn takes 1 to 100 round-trip times"
            )),
            _ => Ok(()),
        }
    }
}

impl Knobs {
    /// Refuses what a later release has.
    fn check_release(&self) -> Result<(), String> {
        let later = [
            ("ecn", self.ecn.is_some()),
            ("scheduler", self.scheduler.is_some()),
            ("max_window_bytes", self.max_window_bytes.is_some()),
            ("peer_ack_frequency", self.peer_ack_frequency.is_some()),
            ("peer_ack_delay_ns", self.peer_ack_delay_ns.is_some()),
        ];
        let missing = later
            .iter()
            .find(|(name, asked)| *asked && LACKS.contains(name));
        missing.map_or(Ok(()), |(name, _)| {
            refuse(&format!("this release of quinn has no {name}"))
        })
    }
}

fn between(name: &str, value: Option<u64>, least: u64, most: u64) -> Result<(), String> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            refuse(&format!("{name} is {value}: quinn takes {least} to {most}"))
        }
        _ => Ok(()),
    }
}

fn refuse(reason: &str) -> Result<(), String> {
    Err(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_the_librarys_range_are_refused() {
        for text in [
            r#"{"max_payload_bytes": 1199}"#,
            r#"{"max_window_bytes": 2903}"#,
            r#"{"max_window_bytes": 3000, "max_payload_bytes": 1501}"#,
            r#"{"initial_rtt_ns": 999999}"#,
            r#"{"ack_delay_ns": 25000000}"#,
            r#"{"ack_frequency": 2}"#,
            r#"{"peer_ack_frequency": 2, "peer_ack_delay_ns": 999999}"#,
            r#"{"path_mtu_discovery": true, "max_payload_bytes": 1300}"#,
            r#"{"time_threshold": 0.5}"#,
            r#"{"time_threshold": 1e9}"#,
            r#"{"groups": []}"#,
        ] {
            let knobs: Knobs = serde_json::from_str(text).expect(text);
            assert!(knobs.check().is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_belong_to_the_range() {
        let text = r#"{"max_payload_bytes": 1200, "max_window_bytes": 2400, "time_threshold": 1.0,
            "initial_rtt_ns": 1000000, "groups": ["x25519mlkem768", "secp384r1"], "pacing": true, "tls_version": "1.3"}"#;
        let knobs: Knobs = serde_json::from_str(text).expect("well formed");
        assert!(knobs.check().is_ok());
    }
}
