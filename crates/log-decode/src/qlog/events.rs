// SPDX-License-Identifier: Apache-2.0
//! Events to rows: an event either becomes all its rows or is counted.

use super::clock::Clock;
use super::data::{MetricsData, PacketData};
use super::event::{short_name, Data, Event, Time};
use super::header::TraceHeader;
use crate::tables::{Ack, Frame, Packet, Parameter, Tables, TransportMetric};
use crate::{Clock as Kind, Options, Severity, Source};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

macro_rules! names_without_table {
    ($($name:ident)*) => { &[$((stringify!($name), concat!("not_tabled:", stringify!($name)))),*] };
}

/// Events that the drafts define and no table holds, and the names under which they are counted; in order.
const EVENTS_WITHOUT_TABLE: &[(&str, &str)] = names_without_table! {
    congestion_state_updated connection_data_blocked_updated connection_id_updated connection_retried
    connection_state_updated data_blocked_updated data_moved datagram_data_moved
    datagram_dropped datagrams_received datagrams_sent ecn_state_updated
    frame_created frame_parsed frames_processed key_discarded
    key_retired key_updated loss_timer_updated marked_for_retransmit
    migration_state_updated mtu_updated packet_buffered packets_acked
    path_assigned priority_updated push_resolved
    server_listening spin_bit_updated stream_data_blocked_updated stream_data_moved
    stream_state_updated stream_type_set timer_updated tuple_assigned
    udp_datagram_dropped udp_datagrams_received udp_datagrams_sent
};

const QUIC: &str = "quic";
const CUT: &str = "the log was cut short: the program did not close it";
const MALFORMED: &str = "a record that is not the JSON that its event's schema asks for";

/// Collects the rows of all traces of a file.
pub(super) struct Decoder<'t> {
    realtime_minus_monotonic_ns: Option<i64>,
    file_name: &'t str,
    unnamed_traces: usize,
    vantage: Option<&'static str>,
    connection: Option<String>,
    clock: Option<Clock>,
    placed: Kind,
    tables: &'t mut Tables,
}

impl<'t> Decoder<'t> {
    pub(super) fn new(options: &'t Options, tables: &'t mut Tables) -> Self {
        Self {
            realtime_minus_monotonic_ns: options.realtime_minus_monotonic_ns,
            file_name: &options.file_name,
            unnamed_traces: 0,
            vantage: None,
            connection: None,
            clock: None,
            placed: Kind::Monotonic,
            tables,
        }
    }

    #[cfg(test)]
    pub(super) fn clock(&mut self) -> &mut Clock {
        self.clock.as_mut().unwrap()
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
            self.tables.stats.count(
                "no_vantage",
                Severity::Notice,
                "the log does not say whether it is the client's or the server's",
            );
        }
        let named = header.common_fields.group_id.clone();
        self.connection = Some(named.unwrap_or_else(|| self.number_trace()));
        self.clock = Some(Clock::new(
            &header.common_fields,
            self.realtime_minus_monotonic_ns,
        ));
    }

    /// A name for the connection of a trace without an id: nothing says that two such traces are about the same one.
    fn number_trace(&mut self) -> String {
        self.unnamed_traces += 1;
        format!("{}#{}", self.file_name, self.unnamed_traces)
    }

    fn end_trace(&mut self) {
        let Some(clock) = self.clock.take() else {
            return;
        };
        if !clock.has_epoch() {
            self.placed = Kind::OwnStart;
            self.tables.stats.count(
                "no_epoch",
                Severity::Notice,
                "times count from the log's own start: join packets to a capture to place them",
            );
        } else if self.realtime_minus_monotonic_ns.is_none() {
            self.placed = Kind::Realtime;
            self.tables.stats.count(
                "no_clock_offset",
                Severity::Notice,
                "time_ns is CLOCK_REALTIME: its offset was not given",
            );
        }
    }

    pub(super) fn finish(mut self) -> Source {
        self.end_trace();
        Source {
            dialect: String::new(),
            clock: self.placed,
            resolution_ns: 1,
            realtime_minus_monotonic_ns: None,
        }
    }

    pub(super) fn count_cut(&mut self) {
        self.tables
            .stats
            .count("truncated_record", Severity::DataLoss, CUT);
    }

    pub(super) fn count_malformed(&mut self) {
        self.tables
            .stats
            .count("malformed_event", Severity::DataLoss, MALFORMED);
    }

    pub(super) fn count_too_long(&mut self) {
        self.tables.stats.count(
            "record_too_long",
            Severity::DataLoss,
            "a single record of more than 16 MiB was skipped",
        );
    }

    pub(super) fn count_broken_document(&mut self) {
        self.tables.stats.count(
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
        let event = match serde_json::from_str::<Event<'_>>(text) {
            Ok(event) => event,
            Err(error) => {
                // Deltas add up, so the time counts even if the rest is lost.
                if let (Ok(Time { time }), Some(clock)) =
                    (serde_json::from_str(text), &mut self.clock)
                {
                    clock.time_ns(time);
                }
                return Err(error);
            }
        };
        let time_ns = self
            .clock
            .as_mut()
            .map_or(0, |clock| clock.time_ns(event.time));
        // Moved out for the time of the call, so that rows can borrow it.
        let own_connection = self.connection.take();
        let connection = event.group_id.as_deref().or(own_connection.as_deref());
        match event.data {
            Data::Packet(kind, data) => self.packet(kind, time_ns, connection, &data),
            Data::Metrics(data) => self.metrics(time_ns, connection, &data),
            Data::Handshake(members) => {
                self.handshake(short_name(&event.name), time_ns, connection, &members);
            }
            Data::WithoutTable => self.count_without_table(short_name(&event.name)),
        }
        self.connection = own_connection;
        Ok(())
    }

    fn count_without_table(&mut self, name: &str) {
        // Newer drafts put the recovery events into the namespace quic, and the old one into the name.
        let known = name.strip_prefix("recovery_").unwrap_or(name);
        if let Ok(at) = EVENTS_WITHOUT_TABLE.binary_search_by_key(&known, |(known, _)| known) {
            self.tables.stats.count(
                EVENTS_WITHOUT_TABLE[at].1,
                Severity::Info,
                "an event of the qlog drafts that no table holds",
            );
        } else {
            let name: String = name.chars().take(64).collect();
            self.tables.stats.count(
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
        data: &PacketData<'_>,
    ) {
        let vantage = self.vantage;
        let packet_type = data
            .header
            .packet_type
            .as_deref()
            .or(data.packet_type.as_deref());
        let packet_number = data.header.packet_number.or(data.packet_number);
        self.tables.packets.push(Packet {
            transport: QUIC,
            vantage,
            connection,
            event,
            time_ns,
            packet_type,
            packet_number,
            length_bytes: data.raw.length,
            trigger: data.trigger.as_deref(),
            ..Packet::default()
        });
        for frame in &data.frames {
            let raw_length = frame
                .raw
                .as_ref()
                .and_then(|raw| raw.payload_length.or(raw.length));
            self.tables.frames.push(Frame {
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
                ..Frame::default()
            });
            for range in &frame.acked_ranges {
                self.tables.acks.push(Ack {
                    transport: QUIC,
                    kind: "ack",
                    vantage,
                    connection,
                    event,
                    time_ns,
                    packet_type,
                    packet_number,
                    first: range.first,
                    last: range.last,
                    ack_delay_us: frame.ack_delay.map(|ms| ms * 1000.0),
                    ..Ack::default()
                });
            }
        }
    }

    fn metrics(&mut self, time_ns: i64, connection: Option<&str>, data: &MetricsData) {
        self.tables.transport_metrics.push(TransportMetric {
            transport: QUIC,
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
            ..TransportMetric::default()
        });
    }

    fn handshake(
        &mut self,
        event: &str,
        time_ns: i64,
        connection: Option<&str>,
        members: &BTreeMap<Cow<'_, str>, &RawValue>,
    ) {
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
            self.tables.parameters.push(Parameter {
                vantage: self.vantage,
                connection,
                time_ns,
                name: &name,
                value: &text(raw),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EVENTS_WITHOUT_TABLE;

    #[test]
    fn the_names_are_in_order() {
        assert!(EVENTS_WITHOUT_TABLE.is_sorted());
    }
}
