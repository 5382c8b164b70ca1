// SPDX-License-Identifier: Apache-2.0
//! Statements of the sender about itself: recovery metrics, the congestion controller's state,
//! timers.

use super::context::{Context, IMPOSSIBLE};
use super::names::packet_type_of_space;
use crate::json::number;
use crate::tables::{CcState, Tables, Timer, TransportMetric};
use crate::Severity;

const QUIC: &str = "quic";

/// Slow start thresholds from here on are the largest number that the program has: none is set.
const NO_THRESHOLD: u64 = 1 << 60;

/// `metrics_updated` and its kin; members that did not change are absent.
pub(super) fn metrics(context: &Context<'_>, tables: &mut Tables) {
    let mut row = TransportMetric {
        vantage: context.who.vantage,
        connection: Some(context.who.connection),
        time_ns: context.time_ns,
        transport: QUIC,
        ..TransportMetric::default()
    };
    let (mut bytes, mut interval) = (None, None);
    let mut phase = None;
    let mut impossible = 0;
    let bits = context.writer.bits_per_rate_unit();
    for (key, value) in &context.event.members {
        let value = value.of(context.text);
        let quoted = value
            .strip_prefix(b"\"")
            .and_then(|value| value.strip_suffix(b"\""));
        let digits = quoted.unwrap_or(value);
        let mut float = |factor: f64| {
            let value = number::float(digits).filter(|value| *value >= 0.0);
            impossible += u64::from(value.is_none() && digits != b"null");
            value.map(|value| value * factor)
        };
        match key.of(context.text) {
            b"smoothed_rtt" => row.smoothed_rtt_ms = float(context.to_ms),
            b"min_rtt" => row.min_rtt_ms = float(context.to_ms),
            b"latest_rtt" => row.latest_rtt_ms = float(context.to_ms),
            b"rtt_variance" => row.rtt_variance_ms = float(context.to_ms),
            b"pacing_rate" => row.pacing_rate_bit_per_s = float(bits),
            b"cf_delivery_rate" | b"delivery_rate" | b"bandwidth_estimate" => {
                row.bandwidth_bit_per_s = float(bits);
            }
            b"bandwidth_bytes" => bytes = float(8.0),
            b"bandwidth_interval" => interval = float(context.to_ms / 1000.0),
            b"state" | b"cc_phase" | b"bbr_state" => phase = quoted,
            key => {
                let target = match key {
                    b"congestion_window" | b"cwnd" | b"current_cwnd" => &mut row.cwnd_bytes,
                    b"bytes_in_flight" => &mut row.bytes_in_flight,
                    b"ssthresh" => &mut row.ssthresh_bytes,
                    b"pto_count" => {
                        row.pto_count =
                            number::unsigned(digits).and_then(|count| count.try_into().ok());
                        continue;
                    }
                    _ => continue,
                };
                *target = number::unsigned(digits);
                impossible += u64::from(target.is_none() && digits != b"null");
            }
        }
    }
    if row.cwnd_bytes == Some(0) {
        row.cwnd_bytes = None;
        impossible += 1;
    }
    row.ssthresh_bytes = row.ssthresh_bytes.filter(|bytes| *bytes < NO_THRESHOLD);
    if let (Some(bits), Some(seconds)) = (bytes, interval) {
        row.bandwidth_bit_per_s = (seconds > 0.0).then(|| bits / seconds);
    }
    let phase = phase.map(|phase| String::from_utf8_lossy(phase).to_ascii_lowercase());
    row.phase = phase.as_deref().filter(|phase| is_bbr(phase));
    tables
        .stats
        .add("impossible_value", impossible, Severity::Notice, IMPOSSIBLE);
    tables.transport_metrics.push(row);
}

/// True if a state is one of BBR's (draft-ietf-ccwg-bbr section 5.1), and no other controller's.
fn is_bbr(state: &str) -> bool {
    state == "startup"
        || state == "drain"
        || state.starts_with("probe_")
        || state.starts_with("bbr")
}

/// Make the rows of a `congestion_state_updated`.
pub(super) fn state(context: &Context<'_>, tables: &mut Tables) {
    let word = |key: &str| context.member(key).map(|state| state.to_ascii_lowercase());
    let Some(new_state) = word("new") else {
        return;
    };
    let trigger = context.trigger();
    tables.cc_states.push(CcState {
        vantage: context.who.vantage,
        connection: Some(context.who.connection),
        time_ns: context.time_ns,
        transport: QUIC,
        old_state: word("old").as_deref(),
        new_state: &new_state,
        trigger: trigger.as_deref(),
        estimate: false,
    });
    if is_bbr(&new_state) {
        tables.transport_metrics.push(TransportMetric {
            vantage: context.who.vantage,
            connection: Some(context.who.connection),
            time_ns: context.time_ns,
            transport: QUIC,
            phase: Some(&new_state),
            ..TransportMetric::default()
        });
    }
}

/// `loss_timer_updated`, `timer_updated`.
pub(super) fn timer(context: &Context<'_>, tables: &mut Tables) {
    let timer = context
        .member("timer_type")
        .filter(|timer| !timer.is_empty());
    let timer = match timer.as_deref() {
        // One timer serves both loss detection and probing (RFC 9002 section 6.2.1).
        None => "loss_detection",
        Some("loss_timeout" | "loss" | "time_threshold") => "loss",
        Some("pto" | "probe_timeout") => "pto",
        Some("ack" | "ack_delay") => "ack",
        Some("idle_timeout" | "idle") => "idle",
        Some(other) => other,
    };
    let event = context.member("event_type");
    let space = context.member("packet_number_space");
    let delta = context.member("delta");
    tables.timers.push(Timer {
        vantage: context.who.vantage,
        connection: Some(context.who.connection),
        time_ns: context.time_ns,
        transport: QUIC,
        timer,
        event: event.as_deref().unwrap_or("set"),
        packet_type: space.and_then(|space| packet_type_of_space(space.as_bytes())),
        delta_ms: delta
            .and_then(|delta| number::float(delta.as_bytes()))
            .map(|delta| delta * context.to_ms),
        estimate: false,
    });
}
