// SPDX-License-Identifier: Apache-2.0
//! Case: what is to be transferred over which link, and everything that may hold the sender back.

use serde::Deserialize;

/// The transport of a transfer.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP with a TLS 1.3 round trip, as HTTP/2 uses it.
    #[default]
    H2,
    /// QUIC, as HTTP/3 uses it.
    H3,
}

/// Control of the congestion window.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// Reno (RFC 5681; `NewReno` of RFC 9002 over QUIC).
    #[default]
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// No window at all: the counterfactual of both.
    Unlimited,
}

/// Key by which the draws of losses are numbered, as a spec's `loss_by`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LossBy {
    /// Packets of the direction.
    #[default]
    Index,
    /// Packets of a class of size.
    Class,
    /// 1500 bytes of the direction.
    Bytes,
}

/// One transfer. A limit that is left out does not exist, so that its counterfactual is the same case without it.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting that has no value, and none excludes another"
)]
pub struct Case {
    /// The transport.
    pub protocol: Protocol,
    /// Seed of all chance.
    pub seed: u64,
    /// Length of the response's body.
    pub body_bytes: u64,
    /// Bottleneck to the client, in bit/s.
    pub rate_down: Option<u64>,
    /// Bottleneck to the server, in bit/s.
    pub rate_up: Option<u64>,
    /// Propagation, one way.
    pub delay_ns: u64,
    /// Share of packets to the client that are lost at random.
    pub loss_down: f64,
    /// Share of packets to the server that are lost at random.
    pub loss_up: f64,
    /// Key by which the draws of losses are numbered.
    pub loss_by: LossBy,
    /// Losses stand behind the bottleneck, which has then sent the packet.
    pub loss_at_exit: bool,
    /// Exactly these packets to the client are lost, in place of a share.
    pub drop_down: Vec<u32>,
    /// Largest IP packet to the client that the path always passes.
    pub oversize_above: Option<u64>,
    /// Share of the larger ones that it loses: all unless said.
    pub oversize: f64,
    /// Longest queue to the client.
    pub queue_bytes: Option<u64>,
    /// Time from a packet's arrival to what an endpoint does because of it.
    pub reaction_ns: u64,
    /// Congestion control of the server.
    pub control: Control,
    /// QUIC: the server reduces its window at each loss, also during recovery from an earlier one.
    pub reduces_in_recovery: bool,
    /// Initial window in packets.
    pub initial_window: u64,
    /// TCP: the window begins anew after an idle time (RFC 5681 section 4.1), as with Linux's
    /// `tcp_slow_start_after_idle`.
    pub restarts_after_idle: bool,
    /// TCP: slow start ends at this window, in packets, without a loss.
    pub threshold: Option<u64>,
    /// TCP's receive window, or QUIC's credit of the connection.
    pub receive_window: Option<u64>,
    /// Credit of the stream, of HTTP/2 or QUIC.
    pub stream_window: Option<u64>,
    /// The server's send buffer.
    pub send_buffer: Option<u64>,
    /// Time from the arrival of the request until the server's program has an answer.
    pub think_ns: u64,
    /// TCP: length of the settings that the server sends as soon as it has the request, which the client acknowledges
    /// with bytes of its own, as ends of HTTP/2 do.
    pub settings_bytes: u64,
    /// The server's program has the body from this byte on only later.
    pub pause_at: u64,
    /// Time from the sending of all before it until the program has it.
    pub pause_ns: u64,
    /// Bytes after which it pauses again, each time: a program that writes in trickles.
    pub pause_every: Option<u64>,
    /// Share of packets to the client that are held back, so that others overtake them.
    pub reorder: f64,
    /// Additional delay of these.
    pub reorder_ns: u64,
    /// Packets that may overtake one before it counts as lost (RFC 6675, RFC 9002 section 6.1.1).
    pub packet_threshold: u32,
    /// Bound of the congestion window in packets.
    pub largest_window: Option<u64>,
    /// QUIC: rate at which the server's pacer lets packets go, in bit/s, besides quinn's own.
    pub pace: Option<u64>,
    /// QUIC: length of full datagrams, without IP's and UDP's headers.
    pub datagram_bytes: u16,
    /// TCP: segments that the client acknowledges at once.
    pub ack_every: u32,
    /// TCP: time for which it holds back the acknowledgment of fewer.
    pub ack_delay_ns: u64,
    /// Another flow to the client through the same queue, in bit/s.
    pub other_rate: Option<u64>,
    /// Length of the server's part of the TLS handshake; over TCP 0 is a connection without TLS's round trip.
    pub flight_bytes: u64,
    /// TCP: headers take no time to send.
    pub no_headers: bool,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            protocol: Protocol::H2,
            seed: 1,
            body_bytes: 1_000_000,
            rate_down: Some(10_000_000),
            rate_up: Some(10_000_000),
            delay_ns: 10_000_000,
            loss_down: 0.0,
            loss_up: 0.0,
            loss_by: LossBy::Index,
            loss_at_exit: false,
            drop_down: Vec::new(),
            oversize_above: None,
            oversize: 1.0,
            queue_bytes: None,
            reaction_ns: 20_000,
            control: Control::Reno,
            reduces_in_recovery: false,
            initial_window: 10,
            restarts_after_idle: false,
            threshold: None,
            receive_window: None,
            stream_window: None,
            send_buffer: None,
            think_ns: 0,
            settings_bytes: 0,
            pause_at: 0,
            pause_ns: 0,
            pause_every: None,
            reorder: 0.0,
            reorder_ns: 5_000_000,
            packet_threshold: 3,
            largest_window: None,
            pace: None,
            datagram_bytes: 1452,
            ack_every: 2,
            ack_delay_ns: 40_000_000,
            other_rate: None,
            flight_bytes: 1200,
            no_headers: false,
        }
    }
}

impl Case {
    /// Case with this handshake over this link, without losses and with next to nothing behind it.
    #[must_use]
    pub fn set_up_without_loss(&self) -> Self {
        Self {
            body_bytes: 100,
            loss_down: 0.0,
            loss_up: 0.0,
            drop_down: Vec::new(),
            oversize_above: None,
            reorder: 0.0,
            pause_ns: 0,
            ..self.clone()
        }
    }
}
