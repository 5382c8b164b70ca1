// SPDX-License-Identifier: Apache-2.0
//! Events of HTTP/3, and those that no table holds.

use super::context::{Context, State, IMPOSSIBLE};
use super::http::FrameEvent;
use crate::tables::Tables;
use crate::Severity;
use serde_json::Value;

macro_rules! names_without_table {
    ($($name:ident)*) => { &[$((stringify!($name), concat!("not_tabled:", stringify!($name)))),*] };
}

/// Events that the drafts define and no table holds, and the names under which they are counted; in order.
const EVENTS_WITHOUT_TABLE: &[(&str, &str)] = names_without_table! {
    capsule_created capsule_parsed connection_migrated connection_migration connection_retried
    connection_state_updated data_moved datagram_created datagram_data_moved datagram_dropped datagram_parsed
    datagram_received datagram_sent datagrams_received datagrams_sent debug error frames_processed info
    l4s_weight_update loss_alarm marked_for_retransmit marker message network_path_model_update
    pacing_metric_update pacing_observation packet_ack packets_acked packets_lost path_validated path_validation
    priority_update push_resolved request_over_stream scenario stream_data_moved stream_priority_updated
    stream_state_update stream_state_updated transport_state_update transport_summary udp_datagram_dropped
    udp_datagrams_received udp_datagrams_sent verbose warning
};

pub(super) fn count(context: &Context<'_>, tables: &mut Tables) {
    let name = String::from_utf8_lossy(context.name);
    // Newer drafts put the recovery events into the namespace quic, and the old one into the name.
    let known = name.strip_prefix("recovery_").unwrap_or(&name);
    let find = |name: &str| EVENTS_WITHOUT_TABLE.binary_search_by_key(&name, |(known, _)| known);
    let found = find(known).or_else(|_| find(&known.to_ascii_lowercase()));
    if let Some((_, counted)) = found.ok().and_then(|at| EVENTS_WITHOUT_TABLE.get(at)) {
        tables.stats.count(
            *counted,
            Severity::Info,
            "an event of the qlog drafts, or of a program's own, that no table holds",
        );
    } else {
        let name: String = name.chars().take(64).collect();
        tables.stats.count(
            format!("unknown_event:{name}"),
            Severity::Notice,
            "an event that the qlog drafts do not define",
        );
    }
}

/// Members of a frame of HTTP/3 that rows are made of.
const FRAME_MEMBERS: [&str; 22] = [
    "frame_type",
    "raw",
    "length",
    "byte_length",
    "headers",
    "header_fields",
    "fields",
    "settings",
    "priority_field_value",
    "new",
    "priority",
    "id",
    "push_id",
    "error_code",
    "prioritized_element_id",
    "element_id",
    "stream_id",
    "frame_type_bytes",
    "frame_type_value",
    "origin_entries",
    "payload_length",
    "frame_type_raw",
];

/// `frame_created`, `frame_parsed` of HTTP/3.
pub(super) fn http_frame(
    sent: bool,
    context: &Context<'_>,
    state: &mut State<'_>,
    tables: &mut Tables,
) {
    let json = |key: &str| {
        let span = context.event.member(context.text, key.as_bytes())?;
        serde_json::from_slice::<Value>(span.of(context.text)).ok()
    };
    let Some(frame) = json("frame") else {
        return count(context, tables);
    };
    if context.member("stream_id").is_some() && context.unsigned("stream_id").is_none() {
        tables.count("impossible_value", Severity::Notice, IMPOSSIBLE);
    }
    let event = FrameEvent {
        time_ns: context.time_ns,
        sent,
        stream_id: context.unsigned("stream_id"),
        length: (context.event.payload_length)
            .or_else(|| context.unsigned("length"))
            .or_else(|| context.unsigned("byte_length")),
        frame_length: context.event.packet.length,
        frame: &frame,
    };
    for (name, _) in frame.as_object().into_iter().flatten() {
        if !FRAME_MEMBERS.contains(&name.as_str()) {
            let name: String = name.chars().take(48).collect();
            tables.stats.count(
                format!("not_read:http3_frame.{name}"),
                Severity::Info,
                "a member of a record that no column of a table holds",
            );
        }
    }
    state.http.frame(&event, context.who, tables);
}

/// Note the type of a `stream_type_set`.
pub(super) fn stream_type(context: &Context<'_>, state: &mut State<'_>, tables: &mut Tables) {
    let name = ["stream_type", "new"]
        .iter()
        .find_map(|key| context.member(key));
    let kind = match name.as_deref() {
        Some("control") => "control",
        Some("push") => "push",
        Some("request" | "data") => "request",
        Some("qpack_encoder" | "qpack_encode") => "qpack_encoder",
        Some("qpack_decoder" | "qpack_decode") => "qpack_decoder",
        _ => return count(context, tables),
    };
    if let Some(id) = context.unsigned("stream_id") {
        state.streams.kind(id, kind, context.who, tables);
    }
}

/// Note the priority of a `priority_updated`.
pub(super) fn priority(context: &Context<'_>, state: &mut State<'_>) {
    let stream = ["stream_id", "request_stream_id", "element_id"]
        .iter()
        .find_map(|key| context.unsigned(key));
    if let (Some(stream), Some(new)) = (stream, context.member("new")) {
        state.http.priority_updated(stream, &new, context.time_ns);
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
