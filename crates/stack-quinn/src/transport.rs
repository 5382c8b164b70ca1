// SPDX-License-Identifier: Apache-2.0
//! The transport configuration of one connection. Whatever the job leaves out stays as quinn has it.

use std::time::Duration;

use quinn::{AckFrequencyConfig, TransportConfig, VarInt};
use quinn_proto::RttEstimator;
use stack_common::job::Scheduler;

use crate::faulty_reductions::{faulty, Fault};
use crate::knobs::{CongestionControl, Knobs, FIRST_PAYLOAD};
use crate::qlog::{Events, Log};
use crate::{congestion, false_sample, reasons};

/// quinn's own choice, named because a report must name it.
const DEFAULT_CONGESTION_CONTROL: CongestionControl = CongestionControl::Cubic;

/// Faults on purpose of a congestion controller.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    /// The round trip that it believes without a measurement.
    pub false_sample: Option<RttEstimator>,
    /// True if each loss reduces its window.
    pub every_loss_reduces: bool,
    /// True if it applies each reduction twice.
    pub reduces_twice: bool,
}

/// The congestion controller of a connection with these knobs.
pub fn congestion_control(knobs: &Knobs) -> CongestionControl {
    knobs
        .congestion_control
        .unwrap_or(DEFAULT_CONGESTION_CONTROL)
}

/// Transport configuration of one connection, because a qlog belongs to one.
pub fn transport(knobs: &Knobs, log: Option<Log>, faults: Faults) -> TransportConfig {
    let mut config = TransportConfig::default();
    let (stream, events) = log.map(|log| (log.stream, log.events)).unzip();
    config.qlog_stream(stream);
    sending(&mut config, knobs, events, faults);
    receiving(&mut config, knobs);
    recovery(&mut config, knobs);
    config
}

fn sending(config: &mut TransportConfig, knobs: &Knobs, events: Option<Events>, faults: Faults) {
    let first_payload = u64::from(knobs.max_payload_bytes.unwrap_or(FIRST_PAYLOAD));
    let initial_window = knobs
        .initial_window
        .map(|packets| u64::from(packets.get()) * first_payload);
    let factory = congestion::factory(
        congestion_control(knobs),
        initial_window,
        knobs.max_window_bytes,
    );
    let mut factory = match faults.false_sample {
        Some(sample) => false_sample::misled(factory, sample),
        None => factory,
    };
    for (fault, asked) in [
        (Fault::EveryLoss, faults.every_loss_reduces),
        (Fault::Twice, faults.reduces_twice),
    ] {
        if asked {
            factory = faulty(factory, fault);
        }
    }
    config.congestion_controller_factory(match events {
        Some(events) => reasons::told(factory, events),
        None => factory,
    });
    if let Some(bytes) = knobs.max_payload_bytes {
        config.initial_mtu(bytes).mtu_discovery_config(None);
    }
    if knobs.path_mtu_discovery == Some(false) {
        config.mtu_discovery_config(None);
    }
    if let Some(enabled) = knobs.gso {
        config.enable_segmentation_offload(enabled);
    }
    if let Some(scheduler) = knobs.scheduler {
        config.send_fairness(scheduler == Scheduler::RoundRobin);
    }
}

fn receiving(config: &mut TransportConfig, knobs: &Knobs) {
    if let Some(bytes) = knobs.connection_window_bytes {
        config.receive_window(limit(bytes));
    }
    if let Some(bytes) = knobs.stream_window_bytes {
        config.stream_receive_window(limit(bytes));
    }
    if let Some(streams) = knobs.max_streams {
        config.max_concurrent_bidi_streams(streams.get().into());
    }
    config.ack_frequency_config(asked_of_peer(knobs));
}

/// `ACK_FREQUENCY` (draft-ietf-quic-ack-frequency) counts the packets that may go without an acknowledgement: one less.
fn asked_of_peer(knobs: &Knobs) -> Option<AckFrequencyConfig> {
    if knobs.peer_ack_frequency.is_none() && knobs.peer_ack_delay_ns.is_none() {
        return None;
    }
    let mut asked = AckFrequencyConfig::default();
    if let Some(packets) = knobs.peer_ack_frequency {
        asked.ack_eliciting_threshold(VarInt::from_u32(packets.get() - 1));
    }
    asked.max_ack_delay(knobs.peer_ack_delay_ns.map(Duration::from_nanos));
    Some(asked)
}

/// The largest number that QUIC can write is as good as any larger one.
fn limit(bytes: u64) -> VarInt {
    VarInt::from_u64(bytes).unwrap_or(VarInt::MAX)
}

fn recovery(config: &mut TransportConfig, knobs: &Knobs) {
    if let Some(packets) = knobs.packet_threshold {
        config.packet_threshold(packets.get());
    }
    if let Some(round_trips) = knobs.time_threshold {
        config.time_threshold(round_trips);
    }
    if let Some(ns) = knobs.initial_rtt_ns {
        config.initial_rtt(Duration::from_nanos(ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn debug(job: &str) -> String {
        let knobs: Knobs = serde_json::from_str(job).expect(job);
        format!("{:?}", transport(&knobs, None, Faults::default()))
    }

    #[test]
    fn each_knob_reaches_quinn() {
        for (job, field) in [
            (r#"{"packet_threshold": 77}"#, "packet_threshold: 77"),
            (r#"{"time_threshold": 2.5}"#, "time_threshold: 2.5"),
            (r#"{"initial_rtt_ns": 33000000}"#, "initial_rtt: 33ms"),
            (
                r#"{"connection_window_bytes": 5001}"#,
                "receive_window: 5001",
            ),
            (
                r#"{"stream_window_bytes": 4001}"#,
                "stream_receive_window: 4001",
            ),
            (r#"{"max_streams": 7}"#, "max_concurrent_bidi_streams: 7"),
            (r#"{"max_payload_bytes": 1350}"#, "initial_mtu: 1350"),
            (
                r#"{"max_payload_bytes": 1350}"#,
                "mtu_discovery_config: None",
            ),
            (
                r#"{"path_mtu_discovery": false}"#,
                "mtu_discovery_config: None",
            ),
            (
                r#"{"peer_ack_frequency": 10}"#,
                "ack_eliciting_threshold: 9",
            ),
            (
                r#"{"peer_ack_delay_ns": 40000000}"#,
                "max_ack_delay: Some(40ms)",
            ),
            (r#"{"gso": false}"#, "enable_segmentation_offload: false"),
            (r#"{"scheduler": "fifo"}"#, "send_fairness: false"),
        ] {
            let text = debug(job);
            assert!(text.contains(field), "{job}: {text}");
        }
    }
}
