// SPDX-License-Identifier: Apache-2.0
//! The transport configuration of a connection. Whatever the job leaves out stays as quinn has it.

use std::sync::Arc;
use std::time::Duration;

use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn::{TransportConfig, VarInt};

use crate::knobs::{CongestionControl, Knobs, FIRST_PAYLOAD};

/// The congestion controller of a connection with these knobs; quinn's own choice is named because a report must name it.
pub fn congestion_control(knobs: &Knobs) -> CongestionControl {
    knobs.congestion_control.unwrap_or(CongestionControl::Cubic)
}

/// Transport configuration of one connection.
pub fn transport(knobs: &Knobs) -> TransportConfig {
    let mut config = TransportConfig::default();
    sending(&mut config, knobs);
    if let Some(bytes) = knobs.connection_window_bytes {
        config.receive_window(limit(bytes));
    }
    if let Some(bytes) = knobs.stream_window_bytes {
        config.stream_receive_window(limit(bytes));
    }
    if let Some(streams) = knobs.max_streams {
        config.max_concurrent_bidi_streams(streams.get().into());
    }
    if let Some(packets) = knobs.packet_threshold {
        config.packet_threshold(packets.get());
    }
    if let Some(round_trips) = knobs.time_threshold {
        config.time_threshold(round_trips);
    }
    if let Some(ns) = knobs.initial_rtt_ns {
        config.initial_rtt(Duration::from_nanos(ns));
    }
    config
}

fn sending(config: &mut TransportConfig, knobs: &Knobs) {
    let first_payload = u64::from(knobs.max_payload_bytes.unwrap_or(FIRST_PAYLOAD));
    let window = knobs
        .initial_window
        .map(|packets| u64::from(packets.get()) * first_payload);
    macro_rules! choose {
        ($controller:ty) => {{
            let mut controller = <$controller>::default();
            if let Some(window) = window {
                controller.initial_window(window);
            }
            config.congestion_controller_factory(Arc::new(controller));
        }};
    }
    match congestion_control(knobs) {
        CongestionControl::Reno => choose!(NewRenoConfig),
        CongestionControl::Cubic => choose!(CubicConfig),
        CongestionControl::Bbr => choose!(BbrConfig),
    }
    if let Some(bytes) = knobs.max_payload_bytes {
        config.initial_mtu(bytes).mtu_discovery_config(None);
    }
    if knobs.path_mtu_discovery == Some(false) {
        config.mtu_discovery_config(None);
    }
    if let Some(enabled) = knobs.gso {
        config.enable_segmentation_offload(enabled);
    }
}

/// The largest number that QUIC can write is as good as any larger one.
fn limit(bytes: u64) -> VarInt {
    VarInt::from_u64(bytes).unwrap_or(VarInt::MAX)
}
