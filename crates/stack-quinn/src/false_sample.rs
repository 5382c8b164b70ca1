// SPDX-License-Identifier: Apache-2.0
//! A fault on purpose: the congestion controller believes one round trip that was never measured.
//!
//! A server that sends its first flight again before any acknowledgement could come, and takes the client's next packet
//! for the acknowledgement of the copy, measures the time since the copy and not a round trip (Yu and Benson, WWW 2021,
//! section 5.3). BBR keeps the least round trip that it hears of, for ten seconds, and takes the path for a short one.
//! A server that asked for another group (`HelloRetryRequest`) has the round trip of that request, and measures right.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn::congestion::{Controller, ControllerFactory, CubicConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, EndpointConfig, ServerConfig, TransportConfig};
use quinn_proto::{Connection, ConnectionHandle, DatagramEvent, Endpoint, RttEstimator};
use stack_common::failure::Failure;

use crate::congestion::{forwarded, Factory};
use crate::tls;

/// Flights of a handshake and its first acknowledgement, with room.
const MOST_FLIGHTS: usize = 12;
const SOMEWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), 443);

/// An estimate that knows one round trip. quinn has no other way to make one than a connection: this one is in memory,
/// and its client hands its first controller call what it was configured to assume.
pub fn estimate(
    round_trip: Duration,
    client: QuicClientConfig,
    server: QuicServerConfig,
) -> Result<RttEstimator, Failure> {
    let told = Arc::new(Mutex::new(None));
    let mut assumed = TransportConfig::default();
    assumed
        .initial_rtt(round_trip)
        .congestion_controller_factory(Arc::new(ListenerConfig(told.clone())));
    let mut client = ClientConfig::new(Arc::new(client));
    client.transport_config(Arc::new(assumed));
    let mut ends = [
        End::new(None),
        End::new(Some(ServerConfig::with_crypto(Arc::new(server)))),
    ];
    let now = Instant::now();
    let begun = ends[0]
        .endpoint
        .connect(now, client, SOMEWHERE, "localhost");
    ends[0].connection = Some(begun.map_err(tls::told)?);
    for flight in 0..MOST_FLIGHTS {
        let datagrams = ends[flight % 2].send(now);
        for datagram in datagrams {
            ends[(flight + 1) % 2].receive(now, datagram);
        }
        if let Some(found) = *told.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(found);
        }
    }
    Err(tls::told("no handshake with itself"))
}

/// One end of the connection in memory.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

impl End {
    fn new(server: Option<ServerConfig>) -> Self {
        let config = Arc::new(EndpointConfig::default());
        Self {
            endpoint: Endpoint::new(config, server.map(Arc::new), false, None),
            connection: None,
        }
    }

    fn send(&mut self, now: Instant) -> Vec<BytesMut> {
        let mut sent = Vec::new();
        let Some((handle, connection)) = &mut self.connection else {
            return sent;
        };
        let mut buffer = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut buffer) {
            sent.push(BytesMut::from(&buffer[..transmit.size]));
            buffer.clear();
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        sent
    }

    fn receive(&mut self, now: Instant, datagram: BytesMut) {
        let mut buffer = Vec::new();
        let event = self
            .endpoint
            .handle(now, SOMEWHERE, None, None, datagram, &mut buffer);
        match event {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut buffer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }
}

/// Controllers that keep the first estimate that they are handed.
struct ListenerConfig(Arc<Mutex<Option<RttEstimator>>>);

impl ControllerFactory for ListenerConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::new(CubicConfig::default()).build(now, current_mtu);
        Box::new(Listener {
            inner,
            told: self.0.clone(),
        })
    }
}

struct Listener {
    inner: Box<dyn Controller>,
    told: Arc<Mutex<Option<RttEstimator>>>,
}

impl Controller for Listener {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get_or_insert(*rtt);
    }

    forwarded!(
        on_sent,
        on_end_acks,
        on_congestion_event,
        window,
        metrics,
        initial_window
    );

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            told: self.told.clone(),
        })
    }
}

/// Controllers like those of `inner`, which hear of that round trip instead of the path's.
pub fn misled(inner: Factory, sample: RttEstimator) -> Factory {
    Arc::new(MisledConfig { inner, sample })
}

struct MisledConfig {
    inner: Factory,
    sample: RttEstimator,
}

impl ControllerFactory for MisledConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Misled {
            inner: self.inner.clone().build(now, current_mtu),
            sample: self.sample,
            packets: 0,
            believes: None,
        })
    }
}

struct Misled {
    inner: Box<dyn Controller>,
    sample: RttEstimator,
    /// Datagrams sent before the first acknowledgement.
    packets: u32,
    /// True if the false sample was taken; `None` before the first acknowledgement.
    believes: Option<bool>,
}

impl Controller for Misled {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.packets += u32::from(self.believes.is_none());
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        // The request to try again is one datagram, and waits for its answer. A first flight with a certificate is more.
        let believes = *self.believes.get_or_insert(self.packets > 1);
        let heard = if believes && self.sample.min() < rtt.min() {
            &self.sample
        } else {
            rtt
        };
        self.inner.on_ack(now, sent, bytes, app_limited, heard);
    }

    forwarded!(
        on_end_acks,
        on_congestion_event,
        window,
        metrics,
        initial_window
    );

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion;
    use crate::job::ServerJob;
    use crate::knobs::CongestionControl;

    const SAMPLE: Duration = Duration::from_millis(10);
    const PATH: Duration = Duration::from_millis(115);

    fn sample(round_trip: Duration) -> RttEstimator {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/golden/localhost.pem"
        );
        let job = format!(
            r#"{{"listen": "[::1]:443", "protocols": ["h3"], "root": "/", "certificate": "{file}", "key": "{file}"}}"#
        );
        let job: ServerJob = serde_json::from_str(&job).expect("a job");
        let (client, server) = tls::with_itself(&job).expect("TLS");
        estimate(round_trip, client, server).expect("an estimate")
    }

    #[test]
    fn an_estimate_knows_the_round_trip_that_was_asked_for() {
        assert_eq!(sample(SAMPLE).min(), SAMPLE);
        assert_eq!(sample(PATH).min(), PATH);
    }

    /// Windows of BBR after 60 round trips over 10 Mbit/s, with so many datagrams before the first acknowledgement.
    fn window(misled_by: Option<Duration>, first_flight: u64) -> u64 {
        let start = Instant::now();
        let path = sample(PATH);
        let bbr = congestion::factory(CongestionControl::Bbr, Some(38_400), None);
        let factory = match misled_by {
            Some(round_trip) => misled(bbr, sample(round_trip)),
            None => bbr,
        };
        let mut controller = factory.build(start, 1200);
        for packet in 0..first_flight {
            controller.on_sent(start, 1200, packet);
        }
        let (mut number, mut now) = (first_flight, start + PATH);
        controller.on_ack(now, start, 1200 * first_flight, true, &path);
        controller.on_end_acks(now, 0, true, Some(first_flight - 1));
        for _ in 0..60 {
            let sent = now;
            let packets = (controller.window() / 1200).clamp(1, 120);
            for _ in 0..packets {
                controller.on_sent(sent, 1200, number);
                number += 1;
            }
            now = sent + PATH;
            for at in 0..packets {
                // The link serves a packet in 0.96 ms.
                now += Duration::from_micros(960);
                controller.on_ack(now, sent, 1200, false, &path);
                controller.on_end_acks(
                    now,
                    (packets - at - 1) * 1200,
                    false,
                    Some(number - packets + at),
                );
            }
        }
        controller.window()
    }

    #[test]
    fn bbr_takes_the_path_for_a_short_one_unless_a_request_to_try_again_was_measured() {
        let right = window(None, 4);
        assert!(window(Some(SAMPLE), 4) < right / 3, "misled");
        assert_eq!(window(Some(SAMPLE), 1), window(None, 1), "measured before");
        assert_eq!(window(Some(2 * PATH), 4), right, "no shorter than the path");
    }
}
