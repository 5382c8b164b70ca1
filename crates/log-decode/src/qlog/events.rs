// SPDX-License-Identifier: Apache-2.0
//! Events to rows: an event either becomes all its rows or is counted.

use super::clock::Clock;
use super::data::{MetricsData, PacketData};
use super::header::{Event, TraceHeader};
use super::rows::{
    Handshake, HandshakeItem, QuicAck, QuicAcks, QuicFrame, QuicFrames, QuicPacket, QuicPackets,
    TransportMetric, TransportMetrics,
};
use super::Qlog;
use crate::{Severity, Stats};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Events whose members go to the table `handshake`.
const HANDSHAKE_EVENTS: [&str; 6] = [
    "version_information",
    "alpn_information",
    "parameters_set",
    "parameters_restored",
    "connection_started",
    "connection_closed",
];

/// Events that the drafts define and no table holds.
const EVENTS_WITHOUT_TABLE: [&str; 38] = [
    "server_listening",
    "connection_id_updated",
    "spin_bit_updated",
    "connection_retried",
    "connection_state_updated",
    "mtu_updated",
    "path_assigned",
    "tuple_assigned",
    "packets_acked",
    "packet_buffered",
    "udp_datagrams_sent",
    "udp_datagrams_received",
    "udp_datagram_dropped",
    "datagrams_sent",
    "datagrams_received",
    "datagram_dropped",
    "stream_state_updated",
    "stream_data_moved",
    "datagram_data_moved",
    "data_moved",
    "frames_processed",
    "data_blocked_updated",
    "connection_data_blocked_updated",
    "stream_data_blocked_updated",
    "migration_state_updated",
    "timer_updated",
    "loss_timer_updated",
    "key_updated",
    "key_discarded",
    "key_retired",
    "congestion_state_updated",
    "ecn_state_updated",
    "marked_for_retransmit",
    "stream_type_set",
    "priority_updated",
    "frame_created",
    "frame_parsed",
    "push_resolved",
];

const CUT: &str = "the log was cut short: the program did not close it";
const MALFORMED: &str = "a record that is not the JSON that its event's schema asks for";

/// Collects the rows of all traces of a file.
#[derive(Default)]
pub(super) struct Decoder {
    realtime_minus_monotonic_ns: Option<i64>,
    vantage: Option<&'static str>,
    connection: Option<String>,
    clock: Option<Clock>,
    packets: QuicPackets,
    frames: QuicFrames,
    acks: QuicAcks,
    metrics: TransportMetrics,
    handshake: Handshake,
    stats: Stats,
}

impl Decoder {
    pub(super) fn new(realtime_minus_monotonic_ns: Option<i64>) -> Self {
        Self {
            realtime_minus_monotonic_ns,
            ..Self::default()
        }
    }

    /// What follows belongs to the trace of `header`.
    pub(super) fn start_trace(&mut self, header: &TraceHeader) {
        self.end_trace();
        self.vantage = match header.vantage_point.kind.as_deref() {
            Some("client") => Some("client"),
            Some("server") => Some("server"),
            _ => None,
        };
        if self.vantage.is_none() {
            self.stats.count(
                "no_vantage",
                Severity::Notice,
                "the log does not say whether it is the client's or the server's",
            );
        }
        self.connection.clone_from(&header.common_fields.group_id);
        self.clock = Some(Clock::new(
            &header.common_fields,
            self.realtime_minus_monotonic_ns,
        ));
    }

    fn end_trace(&mut self) {
        let Some(clock) = self.clock.take() else {
            return;
        };
        if !clock.has_epoch() {
            self.stats.count(
                "no_epoch",
                Severity::Notice,
                "times count from the log's own start: join packets to a capture to place them",
            );
        } else if self.realtime_minus_monotonic_ns.is_none() {
            self.stats.count(
                "no_clock_offset",
                Severity::Notice,
                "time_ns is CLOCK_REALTIME: its offset was not given",
            );
        }
    }

    pub(super) fn finish(mut self) -> Qlog {
        self.end_trace();
        let tables = vec![
            self.packets.finish(),
            self.frames.finish(),
            self.acks.finish(),
            self.metrics.finish(),
            self.handshake.finish(),
        ];
        Qlog {
            tables,
            stats: self.stats,
        }
    }

    pub(super) fn count_cut(&mut self) {
        self.stats
            .count("truncated_record", Severity::DataLoss, CUT);
    }

    pub(super) fn count_malformed(&mut self) {
        self.stats
            .count("malformed_event", Severity::DataLoss, MALFORMED);
    }

    pub(super) fn count_too_long(&mut self) {
        self.stats.count(
            "record_too_long",
            Severity::DataLoss,
            "a single record of more than 16 MiB was skipped",
        );
    }

    pub(super) fn count_broken_document(&mut self) {
        self.stats.count(
            "broken_document",
            Severity::Error,
            "the document ends or breaks off here: events behind it are lost",
        );
    }

    /// Decode one event.
    ///
    /// # Errors
    /// If it is not JSON, or not what its schema asks for; nothing of it is kept then.
    pub(super) fn event(&mut self, text: &str) -> serde_json::Result<()> {
        let event: Event<'_> = serde_json::from_str(text)?;
        let time_ns = self
            .clock
            .as_mut()
            .map_or(0, |clock| clock.time_ns(event.time));
        let short_name = event.name.rsplit(':').next().unwrap_or_default();
        let data = event.data.map_or("{}", RawValue::get);
        // Moved out for the time of the call, so that rows can borrow it.
        let own_connection = self.connection.take();
        let connection = event.group_id.as_deref().or(own_connection.as_deref());
        let done = match short_name {
            "packet_sent" => self.packet("sent", time_ns, connection, data),
            "packet_received" => self.packet("received", time_ns, connection, data),
            "packet_lost" => self.packet("lost", time_ns, connection, data),
            "packet_dropped" => self.packet("dropped", time_ns, connection, data),
            "metrics_updated" | "recovery_metrics_updated" => {
                self.metrics(time_ns, connection, data)
            }
            name if HANDSHAKE_EVENTS.contains(&name) => {
                self.handshake(name, time_ns, connection, data)
            }
            name => {
                self.count_without_table(name);
                Ok(())
            }
        };
        self.connection = own_connection;
        done
    }

    fn count_without_table(&mut self, name: &str) {
        if let Some(known) = EVENTS_WITHOUT_TABLE
            .iter()
            .find(|known| **known == name.trim_start_matches("recovery_"))
        {
            self.stats.count(
                format!("not_tabled:{known}"),
                Severity::Info,
                "an event of the qlog drafts that no table holds",
            );
        } else {
            let name: String = name.chars().take(64).collect();
            self.stats.count(
                format!("unknown_event:{name}"),
                Severity::Notice,
                "an event that the qlog drafts do not define",
            );
        }
    }

    fn packet(
        &mut self,
        event: &'static str,
        time_ns: i64,
        connection: Option<&str>,
        data: &str,
    ) -> serde_json::Result<()> {
        let data: PacketData<'_> = serde_json::from_str(data)?;
        let vantage = self.vantage;
        let packet_type = data
            .header
            .packet_type
            .as_deref()
            .or(data.packet_type.as_deref());
        let packet_number = data.header.packet_number.or(data.packet_number);
        self.packets.push(QuicPacket {
            vantage,
            connection,
            event,
            time_ns,
            packet_type,
            packet_number,
            length_bytes: data.raw.length,
            trigger: data.trigger.as_deref(),
        });
        for frame in &data.frames {
            let raw_length = frame
                .raw
                .as_ref()
                .and_then(|raw| raw.payload_length.or(raw.length));
            self.frames.push(QuicFrame {
                vantage,
                connection,
                event,
                time_ns,
                packet_type,
                packet_number,
                frame_type: &frame.kind,
                stream_id: frame.stream_id,
                offset: frame.offset,
                length_bytes: frame.length.or(raw_length),
                fin: frame.fin,
            });
            for range in &frame.acked_ranges {
                self.acks.push(QuicAck {
                    vantage,
                    connection,
                    event,
                    time_ns,
                    packet_type,
                    packet_number,
                    first: range.first,
                    last: range.last,
                    ack_delay_us: frame.ack_delay.map(|ms| ms * 1000.0),
                });
            }
        }
        Ok(())
    }

    fn metrics(
        &mut self,
        time_ns: i64,
        connection: Option<&str>,
        data: &str,
    ) -> serde_json::Result<()> {
        let data: MetricsData = serde_json::from_str(data)?;
        self.metrics.push(TransportMetric {
            vantage: self.vantage,
            connection,
            time_ns,
            cwnd_bytes: data.congestion_window,
            bytes_in_flight: data.bytes_in_flight,
            ssthresh_bytes: data.ssthresh,
            smoothed_rtt_ms: data.smoothed_rtt,
            min_rtt_ms: data.min_rtt,
            latest_rtt_ms: data.latest_rtt,
            rtt_variance_ms: data.rtt_variance,
            pacing_rate_bit_per_s: data.pacing_rate,
            pto_count: data.pto_count,
        });
        Ok(())
    }

    fn handshake(
        &mut self,
        event: &str,
        time_ns: i64,
        connection: Option<&str>,
        data: &str,
    ) -> serde_json::Result<()> {
        let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(data)?;
        let text = |raw: &RawValue| {
            serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
        };
        // "owner" in 0.3, "initiator" in the drafts of `file_schema`: whose parameters these are.
        let owner = members
            .get("owner")
            .or_else(|| members.get("initiator"))
            .map(|raw| text(raw));
        for (name, raw) in members
            .iter()
            .filter(|(name, _)| !matches!(name.as_ref(), "owner" | "initiator"))
        {
            let name = match &owner {
                Some(owner) => format!("{event}.{owner}.{name}"),
                None => format!("{event}.{name}"),
            };
            self.handshake.push(HandshakeItem {
                vantage: self.vantage,
                connection,
                time_ns,
                name: &name,
                value: &text(raw),
            });
        }
        Ok(())
    }
}
