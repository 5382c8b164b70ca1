// SPDX-License-Identifier: Apache-2.0
//! The data of the events that become rows; unknown members are skipped.

use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::Deserialize;
use std::borrow::Cow;

/// `packet_sent`, `packet_received`, `packet_lost`, `packet_dropped`.
#[derive(Deserialize)]
pub(super) struct PacketData<'a> {
    #[serde(borrow, default)]
    pub header: PacketHeader<'a>,
    #[serde(default)]
    pub raw: Raw,
    #[serde(borrow, default)]
    pub frames: Vec<Frame<'a>>,
    #[serde(borrow, default)]
    pub trigger: Option<Cow<'a, str>>,
    /// aioquic names a lost packet without a header object.
    #[serde(borrow, default, rename = "type", alias = "packet_type")]
    pub packet_type: Option<Cow<'a, str>>,
    #[serde(default)]
    pub packet_number: Option<u64>,
}

#[derive(Default, Deserialize)]
pub(super) struct PacketHeader<'a> {
    #[serde(borrow, default)]
    pub packet_type: Option<Cow<'a, str>>,
    #[serde(default)]
    pub packet_number: Option<u64>,
}

#[derive(Default, Deserialize)]
pub(super) struct Raw {
    #[serde(default)]
    pub length: Option<u64>,
    #[serde(default)]
    pub payload_length: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(borrow, default, rename = "frame_type")]
    pub kind: Cow<'a, str>,
    #[serde(default)]
    pub stream_id: Option<u64>,
    #[serde(default)]
    pub offset: Option<u64>,
    #[serde(default)]
    pub length: Option<u64>,
    /// Newer drafts put the length of the frame's data here.
    #[serde(default)]
    pub raw: Option<Raw>,
    #[serde(default)]
    pub fin: Option<bool>,
    /// Milliseconds.
    #[serde(default)]
    pub ack_delay: Option<f64>,
    #[serde(default)]
    pub acked_ranges: Vec<AckRange>,
}

/// `[n]` or `[first, last]`.
pub(super) struct AckRange {
    pub first: u64,
    pub last: u64,
}

impl<'de> Deserialize<'de> for AckRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bounds;

        impl<'de> Visitor<'de> for Bounds {
            type Value = AckRange;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("one or two packet numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut bounds: A) -> Result<AckRange, A::Error> {
                let first: u64 = bounds
                    .next_element()?
                    .ok_or_else(|| serde::de::Error::invalid_length(0, &self))?;
                let last = bounds.next_element()?.unwrap_or(first);
                while bounds.next_element::<IgnoredAny>()?.is_some() {}
                Ok(AckRange {
                    first: first.min(last),
                    last: first.max(last),
                })
            }
        }

        deserializer.deserialize_seq(Bounds)
    }
}

/// `recovery:metrics_updated`; members that did not change are absent.
#[derive(Deserialize)]
pub(super) struct MetricsData {
    #[serde(default, alias = "cwnd")]
    pub congestion_window: Option<u64>,
    #[serde(default)]
    pub bytes_in_flight: Option<u64>,
    #[serde(default)]
    pub ssthresh: Option<u64>,
    #[serde(default)]
    pub smoothed_rtt: Option<f64>,
    #[serde(default)]
    pub min_rtt: Option<f64>,
    #[serde(default)]
    pub latest_rtt: Option<f64>,
    #[serde(default)]
    pub rtt_variance: Option<f64>,
    #[serde(default)]
    pub pacing_rate: Option<f64>,
    #[serde(default)]
    pub pto_count: Option<u32>,
}
