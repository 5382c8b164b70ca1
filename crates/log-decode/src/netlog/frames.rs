// SPDX-License-Identifier: Apache-2.0
//! QUIC frames as events tell of them: the event's name says which frame, its parameters what stands in it.

use super::params::{flag, number, Params};
use crate::tables::{Ack, FlowControl, Frame, Tables};
use crate::Direction;
use std::borrow::Cow;

/// The stream id by which Chromium means the connection.
const CONNECTION: i64 = -1;

/// One frame.
#[derive(Clone, Debug, Default)]
pub(super) struct QuicFrame {
    pub name: Cow<'static, str>,
    pub stream_id: Option<u64>,
    pub offset: Option<u64>,
    pub length: Option<u64>,
    pub fin: Option<bool>,
    value: Option<u64>,
    unidirectional: Option<bool>,
    /// Packets that an ACK frame acknowledges, the highest first.
    pub acknowledged: Vec<(u64, u64)>,
    ack_delay_us: Option<i64>,
    /// Packets that came with ECT(0), ECT(1) and CE.
    ecn: [Option<u64>; 3],
    /// Facts that no other column holds, as JSON.
    detail: Option<String>,
}

/// The packet that carries a frame.
#[derive(Clone, Copy)]
pub(super) struct Carrier<'a> {
    pub connection: &'a str,
    pub time_ns: i64,
    pub event: &'static str,
    pub direction: Direction,
    pub packet_type: Option<&'static str>,
    pub packet_number: Option<u64>,
}

impl QuicFrame {
    /// The frame that Chromium calls `kind`, such as `WINDOW_UPDATE`.
    pub(super) fn new(kind: &str, params: &Params<'_>) -> Self {
        let mut frame = Self::default();
        let (mut values, mut lengths) = ([None; 5], [None; 4]);
        let mut told = serde_json::Map::new();
        for (name, raw) in params.members() {
            let unsigned = || number(raw).and_then(|number| u64::try_from(number).ok());
            match name {
                b"stream_id" => {
                    // Identifiers are unsigned numbers of 32 bits that were cast to signed ones.
                    frame.stream_id = number(raw)
                        .filter(|&id| id != CONNECTION)
                        .map(|id| u64::try_from(id).unwrap_or((id & 0xffff_ffff).unsigned_abs()));
                }
                b"offset" => frame.offset = unsigned(),
                b"fin" => frame.fin = flag(raw),
                b"is_unidirectional" => {
                    frame.unidirectional = flag(raw);
                    let bidirectional = frame.unidirectional == Some(false);
                    let name = if bidirectional {
                        "bidirectional"
                    } else {
                        "unidirectional"
                    };
                    told.insert("stream_type".into(), name.into());
                }
                b"retire_prior_to" => {
                    told.insert("retire_prior_to".into(), unsigned().into());
                }
                b"connection_id" => {
                    let id = params.text("connection_id").unwrap_or_default();
                    told.insert("connection_id".into(), id.into());
                }
                b"delta_time_largest_observed_us" => frame.ack_delay_us = number(raw),
                b"ECT0" => frame.ecn[0] = unsigned(),
                b"ECT1" => frame.ecn[1] = unsigned(),
                b"CE" => frame.ecn[2] = unsigned(),
                b"length" => lengths[0] = unsigned(),
                b"data_length" => lengths[1] = unsigned(),
                b"num_padding_bytes" => lengths[2] = unsigned(),
                b"message_length" => lengths[3] = unsigned(),
                b"byte_offset" => values[0] = unsigned(),
                b"stream_count" => values[1] = unsigned(),
                b"sequence_number" => values[2] = unsigned(),
                b"ietf_error_code" => values[3] = unsigned(),
                b"quic_wire_error" => values[4] = unsigned(),
                _ => {}
            }
        }
        // The first that there is.
        frame.value = values.into_iter().flatten().next();
        frame.length = lengths.into_iter().flatten().next();
        let of_stream = frame.stream_id.is_some();
        if kind == "RST_STREAM" {
            // Where the stream ends, not where data of the frame lie.
            told.insert("final_size".into(), frame.offset.take().into());
        }
        told.retain(|_, value| !value.is_null());
        frame.detail = (!told.is_empty()).then(|| serde_json::Value::Object(told).to_string());
        frame.name = Cow::Borrowed(match kind {
            "STREAM" => "stream",
            "ACK" => "ack",
            "WINDOW_UPDATE" if of_stream => "max_stream_data",
            "WINDOW_UPDATE" => "max_data",
            "BLOCKED" if of_stream => "stream_data_blocked",
            "BLOCKED" => "data_blocked",
            "RST_STREAM" => "reset_stream",
            "MESSAGE" => "datagram",
            "MTU_DISCOVERY" => "ping",
            other => {
                frame.name = Cow::Owned(other.to_ascii_lowercase());
                return frame;
            }
        });
        if kind == "ACK" {
            frame.acknowledged = ranges(params);
        }
        frame
    }

    /// Write all rows of the frame.
    pub(super) fn push(&self, carrier: Carrier<'_>, tables: &mut Tables) {
        let (vantage, connection, direction) = (
            Some("client"),
            Some(carrier.connection),
            Some(carrier.direction.as_str()),
        );
        let Carrier {
            time_ns,
            event,
            packet_type,
            packet_number,
            ..
        } = carrier;
        tables.frames.push(Frame {
            vantage,
            connection,
            time_ns,
            event,
            direction,
            packet_type,
            packet_number,
            frame_type: &self.name,
            stream_id: self.stream_id,
            offset: self.offset,
            length_bytes: self.length,
            fin: self.fin,
            value: self.value,
            detail: self.detail.as_deref(),
        });
        for &(first, last) in &self.acknowledged {
            #[expect(clippy::cast_precision_loss, reason = "a delay in microseconds")]
            tables.acks.push(Ack {
                vantage,
                connection,
                time_ns,
                transport: "quic",
                event,
                direction,
                packet_type,
                packet_number,
                kind: "ack",
                first,
                last,
                ack_delay_us: self.ack_delay_us.map(|delay| delay as f64),
                ect0: self.ecn[0],
                ect1: self.ecn[1],
                ce: self.ecn[2],
            });
        }
        if let Some((event, scope)) = self.limit() {
            // What is allowed, or held back, goes the other way than the frame that allows it.
            let limited = if event == "limit" {
                carrier.direction.reverse()
            } else {
                carrier.direction
            };
            tables.flow_control.push(FlowControl {
                vantage,
                connection,
                time_ns,
                transport: "quic",
                event,
                direction: Some(limited.as_str()),
                scope,
                stream_id: self.stream_id,
                limit: self.value,
                ..FlowControl::default()
            });
        }
    }

    /// (event, scope) of the table `flow_control`.
    fn limit(&self) -> Option<(&'static str, &'static str)> {
        Some(match self.name.as_ref() {
            "max_data" => ("limit", "connection"),
            "max_stream_data" => ("limit", "stream"),
            "data_blocked" => ("blocked", "connection"),
            "stream_data_blocked" => ("blocked", "stream"),
            "max_streams" => ("limit", self.kind_of_streams()),
            "streams_blocked" => ("blocked", self.kind_of_streams()),
            _ => return None,
        })
    }

    fn kind_of_streams(&self) -> &'static str {
        if self.unidirectional == Some(true) {
            "streams_uni"
        } else {
            "streams_bidi"
        }
    }
}

/// Chromium tells the lowest, the highest and what is missing between them.
fn ranges(params: &Params<'_>) -> Vec<(u64, u64)> {
    let (Some(lowest), Some(mut high)) = (
        params.unsigned("smallest_observed"),
        params.unsigned("largest_observed"),
    ) else {
        return vec![];
    };
    let mut missing = params.numbers("missing_packets");
    missing.sort_unstable();
    let mut ranges = Vec::new();
    for &gap in missing.iter().rev().filter(|&&gap| gap > lowest) {
        if gap < high {
            ranges.push((gap + 1, high));
        }
        high = high.min(gap - 1);
    }
    if lowest <= high {
        ranges.push((lowest, high));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::{Params, QuicFrame};
    use crate::json::Reader;
    use crate::netlog::event::{Sources, Written};

    fn frame(kind: &str, params: &str) -> QuicFrame {
        let text = format!(r#"{{"params":{params},"source":{{"id":1}},"time":1,"type":1}}"#);
        let (mut members, mut sources) = (vec![], Sources::default());
        let mut reader = Reader::new(text.as_bytes());
        assert!(Written::read(&mut reader, &mut members, &mut sources).is_ok());
        QuicFrame::new(kind, &Params::new(text.as_bytes(), &members))
    }

    #[test]
    fn ranges_are_what_lies_between_missing_packets() {
        let frame = frame(
            "ACK",
            r#"{"largest_observed":9,"smallest_observed":"1","missing_packets":[2,3,"5",8]}"#,
        );
        assert_eq!(frame.acknowledged, [(9, 9), (6, 7), (4, 4), (1, 1)]);
    }

    #[test]
    fn a_stream_of_minus_one_is_the_connection() {
        let frame = |params| frame("WINDOW_UPDATE", params);
        assert_eq!(
            frame(r#"{"stream_id":-1,"byte_offset":7}"#).name,
            "max_data"
        );
        assert_eq!(
            frame(r#"{"stream_id":4,"byte_offset":7}"#).name,
            "max_stream_data"
        );
    }
}
