// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 as the program above the transport tells it: its frames, and requests put together from them.

use super::losses::Who;
use super::streams::Streams;
use crate::json::number;
use crate::tables::{HttpFrame, HttpRequest, Parameter, Tables};
use crate::Severity;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Requests followed at a time on one connection.
const MAX_REQUESTS: usize = 1 << 14;

/// State of the request of one stream.
#[derive(Debug, Default)]
struct Request {
    time_ns: i64,
    method: Option<String>,
    scheme: String,
    authority: String,
    path: Option<String>,
    status: Option<u16>,
    content_type: Option<String>,
    priority: Option<String>,
    priority_updated: Option<String>,
    asked: Message,
    answered: Message,
}

/// The frames of one direction.
#[derive(Debug, Default)]
struct Message {
    headers_ns: Option<i64>,
    body_ns: Option<i64>,
    last_ns: Option<i64>,
    header_bytes: Option<u64>,
    body_bytes: Option<u64>,
}

/// The HTTP events of one connection.
#[derive(Debug, Default)]
pub(super) struct Http {
    requests: HashMap<u64, Request>,
}

/// Content of `frame_created` and `frame_parsed`.
pub(super) struct FrameEvent<'a> {
    pub time_ns: i64,
    pub sent: bool,
    pub stream_id: Option<u64>,
    /// Length of its payload, where the event says it beside the frame.
    pub length: Option<u64>,
    /// Length of the frame with its header, likewise.
    pub frame_length: Option<u64>,
    pub frame: &'a Value,
}

impl Http {
    pub(super) fn frame(&mut self, event: &FrameEvent<'_>, who: Who<'_>, tables: &mut Tables) {
        let frame = event.frame;
        let kind = frame["frame_type"]
            .as_str()
            .unwrap_or("unknown")
            .to_ascii_lowercase();
        let raw = &frame["raw"];
        let length = [
            &raw["payload_length"],
            &frame["length"],
            &frame["byte_length"],
        ]
        .into_iter()
        .find_map(unsigned)
        .or(event.length)
        .or_else(|| payload_of(unsigned(&raw["length"]).or(event.frame_length)?, &kind));
        let fields: Vec<HeaderField<'_>> = ["headers", "header_fields", "fields"]
            .iter()
            .filter_map(|key| frame[*key].as_array())
            .flatten()
            .map(|field| (text(&field["name"]), text(&field["value"])))
            .collect();
        let settings: Vec<(String, &Value)> = frame["settings"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|setting| (setting_name(setting), &setting["value"]))
            .collect();
        let priority = ["priority_field_value", "new", "priority"]
            .iter()
            .find_map(|key| frame[*key].as_str());
        let detail = detail(&fields, &settings, priority);
        let direction = if event.sent {
            who.outbound
        } else {
            who.inbound
        };
        tables.http_frames.push(HttpFrame {
            vantage: who.vantage,
            connection: Some(who.connection),
            time_ns: event.time_ns,
            http_version: "HTTP/3",
            event: if event.sent { "sent" } else { "received" },
            direction,
            stream_id: event.stream_id,
            frame_type: &kind,
            length_bytes: length,
            value: [
                "id",
                "push_id",
                "error_code",
                "prioritized_element_id",
                "stream_id",
                "frame_type_bytes",
                "frame_type_value",
            ]
            .iter()
            .find_map(|key| unsigned(&frame[*key])),
            detail: detail.as_deref(),
            ..HttpFrame::default()
        });
        let owner = match direction {
            Some("down") => "server",
            _ => "client",
        };
        for (name, value) in &settings {
            tables.parameters.push(Parameter {
                vantage: who.vantage,
                connection: Some(who.connection),
                time_ns: event.time_ns,
                name: &format!("settings.{owner}.{name}"),
                value: &text(value),
            });
        }
        if kind == "priority_update" {
            let element = ["prioritized_element_id", "element_id", "id", "stream_id"];
            let stream = element.iter().find_map(|key| unsigned(&frame[*key]));
            if let (Some(stream), Some(priority)) = (stream, priority) {
                self.priority_updated(stream, priority, event.time_ns);
            }
        } else if let Some(stream_id) = event.stream_id.filter(|id| id % 4 == 0) {
            let asks = (who.outbound == Some("down")) != event.sent;
            self.message(
                stream_id,
                asks,
                &kind,
                length,
                &fields,
                event.time_ns,
                who,
                tables,
            );
        }
    }

    #[expect(clippy::too_many_arguments, reason = "they are the frame's")]
    fn message(
        &mut self,
        stream_id: u64,
        asks: bool,
        kind: &str,
        length: Option<u64>,
        fields: &[HeaderField<'_>],
        time_ns: i64,
        who: Who<'_>,
        tables: &mut Tables,
    ) {
        if self.requests.len() >= MAX_REQUESTS && !self.requests.contains_key(&stream_id) {
            tables.count(
                "requests_split",
                Severity::Notice,
                "more requests than can be followed at a time: one that goes on has several rows",
            );
            self.finish(&Streams::default(), who, tables);
        }
        let request = self.requests.entry(stream_id).or_insert_with(|| Request {
            time_ns,
            ..Request::default()
        });
        let message = if asks {
            &mut request.asked
        } else {
            &mut request.answered
        };
        message.last_ns = Some(time_ns);
        let bytes = match kind {
            "headers" => {
                message.headers_ns.get_or_insert(time_ns);
                &mut message.header_bytes
            }
            "data" => {
                message.body_ns.get_or_insert(time_ns);
                &mut message.body_bytes
            }
            _ => return,
        };
        if let Some(length) = length {
            *bytes = Some(bytes.unwrap_or(0).saturating_add(length));
        }
        for (name, value) in fields {
            let own = || value.clone().into_owned();
            match (asks, name.as_ref()) {
                (true, ":method") => request.method = Some(own()),
                (true, ":scheme") => request.scheme = own(),
                (true, ":authority") => request.authority = own(),
                (true, ":path") => request.path = Some(own()),
                (true, "priority") => request.priority = Some(own()),
                // An interim response is followed by the final one.
                (false, ":status") => request.status = value.parse().ok().or(request.status),
                (false, "content-type") => request.content_type = Some(own()),
                _ => {}
            }
        }
    }

    /// `PRIORITY_UPDATE` (RFC 9218 section 7), or an event that says so.
    pub(super) fn priority_updated(&mut self, stream_id: u64, priority: &str, time_ns: i64) {
        if self.requests.len() < MAX_REQUESTS || self.requests.contains_key(&stream_id) {
            let request = self.requests.entry(stream_id).or_insert_with(|| Request {
                time_ns,
                ..Request::default()
            });
            request.priority_updated = Some(priority.to_owned());
        }
    }

    /// Write the requests, in the order of their streams.
    pub(super) fn finish(&mut self, streams: &Streams, who: Who<'_>, tables: &mut Tables) {
        let mut requests: Vec<_> = self.requests.drain().collect();
        requests.sort_unstable_by_key(|(id, _)| *id);
        for (stream_id, request) in requests {
            let path = request.path.as_deref();
            let url = path.map(|path| format!("{}://{}{path}", request.scheme, request.authority));
            let stream = streams.get(stream_id);
            // A frame is logged when its header is read: its data may come much later.
            let complete_ns = stream.and_then(|stream| {
                if who.outbound == Some("down") {
                    stream.sent.complete_ns()
                } else {
                    stream.received.complete_ns()
                }
            });
            tables.http_requests.push(HttpRequest {
                vantage: who.vantage,
                connection: Some(who.connection),
                time_ns: request.time_ns,
                transport: Some("quic"),
                http_version: Some("HTTP/3"),
                stream_id: Some(stream_id),
                method: request.method.as_deref(),
                url: url.as_deref(),
                status: request.status,
                content_type: request.content_type.as_deref(),
                priority: request.priority.as_deref(),
                priority_updated: request.priority_updated.as_deref(),
                send_start_ns: request.asked.headers_ns,
                send_end_ns: request.asked.last_ns,
                headers_ns: request.answered.headers_ns,
                first_byte_ns: request.answered.body_ns,
                last_byte_ns: complete_ns.max(request.answered.last_ns),
                request_header_bytes: request.asked.header_bytes,
                request_body_bytes: request.asked.body_bytes,
                response_header_bytes: request.answered.header_bytes,
                response_body_bytes: request.answered.body_bytes,
                ..HttpRequest::default()
            });
        }
    }
}

/// The payload of a frame of `length` bytes, whose type takes one of them and whose length field as many as it needs
/// (RFC 9000 section 16); it can be told for frames of the types of RFC 9114.
fn payload_of(length: u64, kind: &str) -> Option<u64> {
    if matches!(kind, "unknown" | "reserved") {
        return None;
    }
    [(1, 1 << 6), (2, 1 << 14), (4, 1 << 30), (8, 1 << 62)]
        .into_iter()
        .find_map(|(field, limit)| {
            length
                .checked_sub(1 + field)
                .filter(|payload| *payload < limit)
        })
}

fn unsigned(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => number::unsigned(text.as_bytes()),
        _ => None,
    }
}

fn text(value: &Value) -> Cow<'_, str> {
    (value.as_str()).map_or_else(|| value.to_string().into(), Cow::Borrowed)
}

/// Name of a setting in small letters and without prefix; its number if the program has no name for it.
fn setting_name(setting: &Value) -> String {
    let name = text(&setting["name"]).to_ascii_lowercase();
    match (name.as_str(), unsigned(&setting["name_bytes"])) {
        ("unknown" | "reserved", Some(number)) => format!("0x{number:x}"),
        (name, _) => match name.parse::<u64>() {
            Ok(number) => format!("{number:#x}"),
            Err(_) => name.strip_prefix("settings_").unwrap_or(name).to_owned(),
        },
    }
}

/// Content of a frame, as JSON.
fn detail(
    fields: &[HeaderField<'_>],
    settings: &[(String, &Value)],
    priority: Option<&str>,
) -> Option<String> {
    let settings = settings.iter();
    let mut members: BTreeMap<&str, Detail<'_>> = settings
        .map(|(name, value)| (name.as_str(), Detail::Setting(value)))
        .collect();
    members.extend(priority.map(|priority| ("priority", Detail::Priority(priority))));
    members.extend((!fields.is_empty()).then_some(("fields", Detail::Fields(fields))));
    (!members.is_empty()).then(|| serde_json::to_string(&members).unwrap_or_default())
}

/// Name and value.
type HeaderField<'a> = (Cow<'a, str>, Cow<'a, str>);

#[derive(Serialize)]
#[serde(untagged)]
enum Detail<'a> {
    Setting(&'a Value),
    Priority(&'a str),
    Fields(&'a [HeaderField<'a>]),
}
