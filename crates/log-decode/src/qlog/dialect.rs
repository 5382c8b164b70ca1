// SPDX-License-Identifier: Apache-2.0
//! The program that wrote a log, its units, and what it never writes.
//!
//! The units are those of the programs' sources, not those of the drafts (which want bits per second and milliseconds).

use super::header::{FileHeader, TraceHeader};
use crate::tables::Tables;

/// A program, or library, that writes qlogs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Writer {
    Aioquic,
    Mvfst,
    Neqo,
    Ngtcp2,
    OpenSsl,
    /// Makes qlogs of captures.
    Pcap2qlog,
    Picoquic,
    QuicGo,
    QuicTrace,
    Quiche,
    Quinn,
    #[default]
    Unknown,
}

/// A table, a column of it or `None` for all, and why it stays empty.
type Lack = (&'static str, Option<&'static str>, &'static str);

const NO_HTTP: &str = "this program logs no HTTP events";
const NO_STATES: &str = "this program logs no states of its congestion controller";
const NO_TIMERS: &str = "this program logs no timers";
const NO_RULE: &str = "this program does not log by which rule a packet was lost";
const NO_PACING: &str = "this program does not log its pacing rate";
const NO_FRAMES: &str = "this program logs packets without their frames";
const NO_METRICS: &str = "this program logs no recovery metrics";
const NO_LOSSES: &str = "this program logs how many packets were lost, not which";
const NO_BANDWIDTH: &str = "this program does not log an estimate of bandwidth";

/// Signs of a program in its events. Titles are none: an application that uses a library chooses them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    /// The program that alone writes a member or an event that was seen.
    own: Option<Writer>,
    /// Lengths of connection ids, as quiche's crate for qlogs writes them.
    has_id_lengths: bool,
    has_packets_in_flight: bool,
    packets: u32,
    packets_with_frames: u32,
}

impl Signs {
    /// Look at the text of an event of this name.
    pub(super) fn look(&mut self, name: &[u8], event: &[u8]) {
        let name = name.trim_ascii();
        let name = name.strip_prefix(b"\"").unwrap_or(name);
        let name = name.strip_suffix(b"\"").unwrap_or(name);
        let kind = name.rsplit(|&byte| byte == b':').next().unwrap_or(name);
        // Within a text a quotation mark has a backslash before it: these are members, or whole values.
        let has = |what: &str| memchr::memmem::find(event, what.as_bytes()).is_some();
        match kind {
            b"packet_sent" | b"packet_received" => {
                self.packets += 1;
                self.packets_with_frames += u32::from(has("\"frames\""));
                self.has_id_lengths |= has("\"scil\"") || has("\"dcil\"");
                self.found(Writer::Quiche, has("\"send_at_time\""));
                self.found(Writer::QuicGo, has("\"datagram_payload_checksum\""));
            }
            b"stream_data_moved" => self.found(Writer::Quiche, true),
            b"key_updated" => {
                self.found(Writer::QuicGo, has("\"tls\"") && has("_initial_secret\""));
            }
            b"congestion_metric_update" | b"bandwidth_est_update" => {
                self.found(Writer::Mvfst, true);
            }
            b"metrics_updated" | b"recovery_metrics_updated" => {
                self.found(Writer::Quiche, has("\"cf_") || has("\"lost_packets\""));
                self.has_packets_in_flight |= has("\"packets_in_flight\"");
            }
            _ => {}
        }
    }

    fn found(&mut self, writer: Writer, is_seen: bool) {
        if is_seen {
            self.own.get_or_insert(writer);
        }
    }

    /// The program, where its events alone tell it from all others.
    fn writer(self) -> Option<Writer> {
        if self.own.is_some() {
            self.own
        } else if self.has_id_lengths && self.packets_with_frames > 0 {
            // neqo uses the same crate, and has been told by its vantage point; quic-go writes checksums beside.
            Some(Writer::Quiche)
        } else if self.packets > 0 && self.packets_with_frames == 0 && self.has_packets_in_flight {
            Some(Writer::Quinn)
        } else {
            None
        }
    }

    /// True if these events can be those of a program that a title names.
    fn allow(self, writer: Writer) -> bool {
        match writer {
            Writer::Quinn => self.packets_with_frames == 0,
            // Its packets have signs of their own.
            Writer::Quiche => self.packets == 0,
            _ => true,
        }
    }
}

impl Writer {
    /// The program, by what it writes itself: its events and the name of its vantage point. A title is believed where
    /// they tell nothing.
    pub(super) fn of(file: &FileHeader, trace: &TraceHeader, signs: Signs) -> Self {
        let name = trace.vantage_point.name.as_deref().unwrap_or_default();
        let is_network = trace.vantage_point.kind.as_deref() == Some("network");
        let by_name = match name {
            "ngtcp2" => Some(Self::Ngtcp2),
            "aioquic" => Some(Self::Aioquic),
            "backend-67" => Some(Self::Picoquic),
            "Probably server, because debugging congestion stuff" => Some(Self::QuicTrace),
            "TODO" if is_network => Some(Self::Pcap2qlog),
            _ if name.starts_with("OpenSSL") => Some(Self::OpenSsl),
            _ if name.starts_with("neqo") => Some(Self::Neqo),
            _ => None,
        };
        let own = file.description.as_deref().unwrap_or_default();
        if own.starts_with("written by quiclab from") && signs.own != Some(Self::Quiche) {
            // Its units are the drafts', whatever program's log it was made from.
            return Self::Unknown;
        }
        if let Some(writer) = by_name.or_else(|| signs.writer()) {
            return writer;
        }
        let titles = [&file.title, &trace.title, &trace.description];
        let called = |what: &str| {
            let mut given = titles.iter().filter_map(|title| title.as_deref());
            given.any(|text| text.to_ascii_lowercase().contains(what))
        };
        let named = [
            ("quic-go", Self::QuicGo),
            ("picoquic", Self::Picoquic),
            ("mvfst", Self::Mvfst),
            ("quictrace", Self::QuicTrace),
            ("quinn", Self::Quinn),
            ("quiche", Self::Quiche),
        ];
        let named = named.into_iter().find(|(what, _)| called(what));
        named
            .map(|(_, writer)| writer)
            .filter(|writer| signs.allow(*writer))
            .unwrap_or_default()
    }

    /// The name in `dialect`.
    pub(super) fn name(self, trace: &TraceHeader) -> String {
        let known = match self {
            Self::Aioquic => "aioquic",
            Self::Mvfst => "mvfst",
            Self::Neqo => "neqo",
            Self::Ngtcp2 => "ngtcp2",
            // Its name says its version.
            Self::OpenSsl | Self::Unknown => {
                let name = trace
                    .vantage_point
                    .name
                    .as_deref()
                    .or(trace.title.as_deref());
                return name.unwrap_or("unknown writer").chars().take(64).collect();
            }
            Self::Pcap2qlog => "pcap2qlog",
            Self::Picoquic => "picoquic",
            Self::QuicGo => "quic-go",
            Self::QuicTrace => "quictrace-to-qlog",
            Self::Quiche => "quiche",
            Self::Quinn => "quinn",
        };
        known.to_owned()
    }

    /// Factor that turns its rates into bits per second: neqo and quiche log bytes.
    pub(super) fn bits_per_rate_unit(self) -> f64 {
        match self {
            Self::Neqo | Self::Quiche => 8.0,
            _ => 1.0,
        }
    }

    /// True if its `ack_delay` is a length of time: picoquic and pcap2qlog log the field without
    /// its exponent.
    pub(super) fn ack_delay_is_time(self) -> bool {
        !matches!(self, Self::Picoquic | Self::Pcap2qlog)
    }

    /// True if it gives `ack_delay` as milliseconds, but leaves out the exponent of 1-RTT packets:
    /// quiche divides the field as it came by 1,000.
    pub(super) fn leaves_out_exponent(self) -> bool {
        self == Self::Quiche
    }

    /// True if the description of its traces is the client's first Destination Connection ID.
    pub(super) fn describes_by_connection_id(self) -> bool {
        self == Self::Picoquic
    }

    /// Facts that it never writes.
    fn lacks(self) -> &'static [Lack] {
        const HTTP: [Lack; 2] = [
            ("http_frames", None, NO_HTTP),
            ("http_requests", None, NO_HTTP),
        ];
        const PACING: Lack = (
            "transport_metrics",
            Some("pacing_rate_bit_per_s"),
            NO_PACING,
        );
        const BANDWIDTH: Lack = (
            "transport_metrics",
            Some("bandwidth_bit_per_s"),
            NO_BANDWIDTH,
        );
        const STATES: Lack = ("cc_states", None, NO_STATES);
        const TIMERS: Lack = ("timers", None, NO_TIMERS);
        const RULE: Lack = ("losses", Some("rule"), NO_RULE);
        match self {
            Self::Ngtcp2 => &[HTTP[0], HTTP[1], PACING, BANDWIDTH, STATES, TIMERS, RULE],
            Self::OpenSsl => &[
                HTTP[0],
                HTTP[1],
                ("transport_metrics", None, NO_METRICS),
                (
                    "packets",
                    Some("length_bytes"),
                    "this program does not log the size of packets",
                ),
                STATES,
                TIMERS,
                RULE,
            ],
            Self::QuicGo => &[PACING, BANDWIDTH],
            Self::Quiche => &[("losses", None, NO_LOSSES), TIMERS],
            Self::Quinn => &[
                HTTP[0],
                HTTP[1],
                ("frames", None, NO_FRAMES),
                ("acks", None, NO_FRAMES),
                ("streams", None, NO_FRAMES),
                ("flow_control", None, NO_FRAMES),
                ("handshake", None, NO_FRAMES),
                (
                    "parameters",
                    None,
                    "this program logs no transport parameters",
                ),
                ("losses", Some("spurious"), NO_FRAMES),
                BANDWIDTH,
                STATES,
                TIMERS,
                RULE,
            ],
            Self::Neqo => &[HTTP[0], HTTP[1], BANDWIDTH, TIMERS],
            Self::Aioquic => &[PACING, BANDWIDTH, STATES, TIMERS, RULE],
            Self::Picoquic => &[
                HTTP[0],
                HTTP[1],
                BANDWIDTH,
                STATES,
                TIMERS,
                (
                    "acks",
                    Some("ack_delay_us"),
                    "this program logs the field without its exponent",
                ),
            ],
            Self::Mvfst => &[HTTP[0], HTTP[1], PACING, ("losses", None, NO_LOSSES)],
            Self::QuicTrace => &[HTTP[0], HTTP[1], BANDWIDTH, TIMERS, RULE],
            Self::Pcap2qlog => &[
                HTTP[0],
                HTTP[1],
                ("transport_metrics", None, "a capture does not show them"),
                ("cc_states", None, "a capture does not show them"),
                ("timers", None, "a capture does not show them"),
                ("losses", None, "a capture does not show them"),
                (
                    "acks",
                    Some("ack_delay_us"),
                    "this program logs the field without its exponent",
                ),
            ],
            Self::Unknown => &[],
        }
    }

    /// Say what it never writes, except for tables that got rows after all: versions differ.
    pub(super) fn tell_lacks(self, tables: &mut Tables) {
        for &(table, column, reason) in self.lacks() {
            if column.is_some() || !tables.has_rows(table) {
                tables.cannot_tell(table, column, reason);
            }
        }
    }
}
