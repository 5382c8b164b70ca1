// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 frames, as the events `HTTP3_…` of a QUIC session tell of them.

use super::parameters;
use super::streams::Streams;
use super::Event;
use crate::tables::{HttpFrame, Tables};
use crate::Direction;
use serde_json::json;
use std::collections::BTreeMap;

/// Streams of one session whose bodies are counted at a time.
const MAX_BODIES: usize = 1 << 14;

/// State that is kept between the events of one frame.
#[derive(Debug, Default)]
pub(super) struct Http3 {
    /// Length of the HEADERS frame that was read last, and when; it is told again once it is decoded.
    headers: Option<(i64, Option<u64>)>,
    /// Bytes of DATA frames so far, by stream and way.
    bodies: BTreeMap<(u64, Direction), u64>,
}

impl Http3 {
    /// Take one event; false if no table holds it.
    pub(super) fn event(
        &mut self,
        connection: &str,
        event: &Event<'_>,
        streams: &mut Streams,
        tables: &mut Tables,
    ) -> bool {
        let params = &event.params;
        let stream_id = params.unsigned("stream_id");
        let name = event.name.trim_start_matches("HTTP3_");
        if let Some(kind) = name.strip_suffix("_STREAM_CREATED") {
            let kind = match kind
                .trim_start_matches("LOCAL_")
                .trim_start_matches("PEER_")
            {
                "CONTROL" => "control",
                "QPACK_ENCODER" => "qpack_encoder",
                "QPACK_DECODER" => "qpack_decoder",
                _ => return false,
            };
            if let Some(id) = stream_id {
                streams.created(connection, id, (kind, event.time_ns), tables);
            }
            return true;
        }
        if name == "HEADERS_RECEIVED" {
            self.headers = Some((event.time_ns, params.unsigned("compressed_headers_length")));
            return true;
        }
        let (sent, kind) = if let Some(kind) = name.strip_suffix("_SENT") {
            (true, kind)
        } else if let Some(kind) = name
            .strip_suffix("_RECEIVED")
            .or(name.strip_suffix("_DECODED"))
        {
            (false, kind.trim_end_matches("_FRAME"))
        } else {
            return false;
        };
        let mut frame = HttpFrame {
            vantage: Some("client"),
            connection: Some(connection),
            time_ns: event.time_ns,
            http_version: "HTTP/3",
            event: if sent { "sent" } else { "received" },
            direction: Some(if sent { "up" } else { "down" }),
            stream_id,
            length_bytes: params.unsigned("payload_length"),
            ..HttpFrame::default()
        };
        let mut detail = params.raw("headers").map(|_| params.header_fields());
        match kind {
            "HEADERS" if !sent => {
                if let Some((time_ns, length)) = self.headers.take() {
                    (frame.time_ns, frame.length_bytes) = (time_ns, length);
                }
            }
            "SETTINGS" => {
                let owner = if sent {
                    "settings.client"
                } else {
                    "settings.server"
                };
                for (setting, value) in params.iter() {
                    let setting = format!("{owner}.{}", setting_name(setting));
                    parameters::push(connection, event.time_ns, &setting, &value, tables);
                }
                let pairs = params
                    .iter()
                    .map(|(setting, value)| (setting_name(setting), setting_value(&value)));
                detail = serde_json::to_string(&pairs.collect::<serde_json::Map<_, _>>()).ok();
            }
            "PRIORITY_UPDATE" => {
                frame.value = params.unsigned("prioritized_element_id");
                detail = params
                    .text("priority_field_value")
                    .map(|priority| json!({ "priority": priority }).to_string());
            }
            "DATA" => self.add_body(
                stream_id,
                if sent { Direction::Up } else { Direction::Down },
                frame.length_bytes,
            ),
            "GOAWAY" => frame.value = stream_id.or(params.unsigned("id")),
            "UNKNOWN" => frame.value = params.unsigned("frame_type"),
            _ => {}
        }
        let frame_type = kind.to_ascii_lowercase();
        tables.http_frames.push(HttpFrame {
            frame_type: &frame_type,
            detail: detail.as_deref(),
            ..frame
        });
        true
    }

    fn add_body(&mut self, stream: Option<u64>, direction: Direction, length: Option<u64>) {
        let Some(stream) = stream else { return };
        if self.bodies.len() >= MAX_BODIES {
            self.bodies.pop_first();
        }
        let body = self.bodies.entry((stream, direction)).or_default();
        *body = body.saturating_add(length.unwrap_or_default());
    }

    /// Bytes of the body that went one way; `None` if there was no DATA frame.
    pub(super) fn body_bytes(&self, stream: u64, direction: Direction) -> Option<u64> {
        self.bodies.get(&(stream, direction)).copied()
    }
}

/// The number that stands there, or what else does.
pub(super) fn setting_value(text: &str) -> serde_json::Value {
    text.parse::<u64>().map_or_else(|_| text.into(), Into::into)
}

/// Name of a setting in small letters and without prefix; its number if Chromium has no name for it.
fn setting_name(name: &str) -> String {
    let number = name
        .strip_prefix("UNSUPPORTED_SETTINGS_TYPE(")
        .and_then(|rest| rest.trim_end_matches(')').parse::<u64>().ok());
    match number {
        Some(number) => format!("{number:#x}"),
        None => name.trim_start_matches("SETTINGS_").to_ascii_lowercase(),
    }
}
