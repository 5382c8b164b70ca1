// SPDX-License-Identifier: Apache-2.0
//! Settings of quinn for a case.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::congestion::{CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, ServerConfig,
    TransportConfig, VarInt,
};

use crate::case::{Case, Control};
use crate::quic::plain::{Open, Plain};
use crate::quic::told::{Ear, Listened};

/// Length of connection IDs.
pub const CID_BYTES: usize = 8;
const ALL: u32 = u32::MAX;

/// Connection IDs in order.
struct Numbered(u64);

impl ConnectionIdGenerator for Numbered {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 += 1;
        ConnectionId::new(&self.0.to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        CID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// quinn's endpoint with a seed; the server's if there is a configuration for it.
pub fn endpoint(case: &Case, server: Option<ServerConfig>) -> Endpoint {
    let side: u8 = if server.is_some() { 2 } else { 1 };
    let mut config = EndpointConfig::new(Arc::new(Open));
    config.cid_generator(move || Box::new(Numbered(u64::from(side) << 32)));
    config.grease_quic_bit(false);
    let mut seed = [side; 32];
    seed[..8].copy_from_slice(&case.seed.to_be_bytes());
    Endpoint::new(Arc::new(config), server.map(Arc::new), false, Some(seed))
}

fn transport(case: &Case) -> TransportConfig {
    let window = |limit: Option<u64>| match limit {
        Some(limit) => VarInt::from_u64(limit).expect("a credit below 2⁶²"),
        None => VarInt::from_u32(ALL),
    };
    let mut config = TransportConfig::default();
    config
        .initial_mtu(case.datagram_bytes)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .send_window(case.send_buffer.unwrap_or(1 << 40))
        .packet_threshold(case.packet_threshold)
        .receive_window(window(case.receive_window))
        .stream_receive_window(window(case.stream_window))
        .enable_segmentation_offload(false);
    config
}

/// The client's configuration.
pub fn client(case: &Case) -> ClientConfig {
    let mut config = ClientConfig::new(plain(case));
    config.transport_config(Arc::new(transport(case)));
    config.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[7; CID_BYTES])));
    config
}

/// The server's configuration, whose congestion control tells `ear`.
pub fn server(case: &Case, ear: Ear) -> ServerConfig {
    let initial = case.initial_window * u64::from(case.datagram_bytes);
    let bound = case.largest_window;
    let mut told = Listened {
        inner: None,
        bound: bound.map(|packets| packets * u64::from(case.datagram_bytes)),
        reduces_in_recovery: case.reduces_in_recovery,
        ear,
    };
    match case.control {
        Control::Reno => {
            let mut reno = NewRenoConfig::default();
            reno.initial_window(initial);
            told.inner = Some(Arc::new(reno));
        }
        Control::Cubic => {
            let mut cubic = CubicConfig::default();
            cubic.initial_window(initial);
            told.inner = Some(Arc::new(cubic));
        }
        Control::Unlimited => {}
    }
    let mut transport = transport(case);
    transport.congestion_controller_factory(Arc::new(told));
    let mut config = ServerConfig::new(plain(case), Arc::new(Open));
    config.transport_config(Arc::new(transport));
    config
}

fn plain(case: &Case) -> Arc<Plain> {
    let flight_bytes = usize::try_from(case.flight_bytes).expect("a short flight");
    Arc::new(Plain { flight_bytes })
}
