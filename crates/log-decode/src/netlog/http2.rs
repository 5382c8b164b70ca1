// SPDX-License-Identifier: Apache-2.0
//! One HTTP/2 session: frames, streams and what holds them back.

use super::constants::{Constants, Phase};
use super::http3::setting_value;
use super::parameters;
use super::params::Params;
use super::streams::Streams;
use super::Event;
use crate::tables::{FlowControl, HttpFrame, Tables};
use crate::{Direction, Severity};
use std::collections::BTreeMap;

/// RFC 9113 section 6.9.2.
const INITIAL_WINDOW: u64 = 65_535;
/// Windows of one session that are counted at a time.
const MAX_WINDOWS: usize = 1 << 12;

/// Limit of a window and what was sent, in bytes of DATA.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    increments: u64,
    sent: u64,
}

#[derive(Debug)]
pub(super) struct Session {
    pub connection: String,
    pub streams: Streams,
    /// Windows by the stream (0 is the connection) and the way of the data.
    windows: BTreeMap<(u64, Direction), Window>,
    /// Size at which windows of streams start.
    initial_up: u64,
    initial_down: u64,
}

impl Session {
    pub(super) fn new(connection: String) -> Self {
        Self {
            connection,
            streams: Streams::new("tcp"),
            windows: BTreeMap::new(),
            initial_up: INITIAL_WINDOW,
            initial_down: INITIAL_WINDOW,
        }
    }

    /// Take one event of the session; false if no table holds it.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        constants: &Constants,
        tables: &mut Tables,
    ) -> bool {
        let name = event
            .name
            .trim_start_matches("HTTP2_SESSION")
            .trim_start_matches('_');
        let (direction, kind) = if let Some(kind) = name.strip_prefix("SEND_") {
            (Direction::Up, kind)
        } else if let Some(kind) = name.strip_prefix("RECV_") {
            (Direction::Down, kind)
        } else {
            return self.state(name, event, constants, tables);
        };
        match kind {
            // The settings of one frame follow it one by one.
            "SETTING" => {
                let name = event.params.text("id").unwrap_or_default();
                let value = event.params.raw("value").unwrap_or_default();
                self.setting("settings.server", event.time_ns, &name, value, tables);
            }
            "INVALID_HEADER" | "ACCEPT_CH" => return false,
            _ => self.frame(direction, kind, event, tables),
        }
        true
    }

    fn frame(&mut self, direction: Direction, kind: &str, event: &Event<'_>, tables: &mut Tables) {
        let Event {
            time_ns, params, ..
        } = event;
        let kind = match kind {
            "SETTINGS_ACK" => "settings".to_owned(),
            "GREASED_FRAME" => "unknown".to_owned(),
            other => other.to_ascii_lowercase(),
        };
        let stream_id = params.unsigned("stream_id");
        let size = params.unsigned("size");
        let fin = params.flag("fin");
        // `8 (CANCEL)`
        let error_code = params.text("error_code");
        let (error, error_name) = match error_code.as_deref().and_then(|code| code.split_once(' '))
        {
            Some((number, name)) => (number.parse().ok(), Some(name.trim_matches(['(', ')']))),
            None => (None, None),
        };
        let value = ["delta", "last_accepted_stream_id", "error_code"]
            .into_iter()
            .find_map(|name| params.unsigned(name));
        let settings = params.texts("settings");
        count_malformed(&settings, params, tables);
        for (name, value) in settings.iter().filter_map(|text| parse_setting(text)) {
            self.setting("settings.client", *time_ns, name, value, tables);
        }
        let detail = match kind.as_str() {
            "headers" | "push_promise" => Some(params.header_fields()),
            "goaway" => {
                let debug = params.text("debug_data").filter(|text| !text.is_empty());
                let members = [("error", error_name), ("debug", debug.as_deref())];
                told(members)
            }
            "rst_stream" => told([("error", error_name), ("debug", None)]),
            _ if settings.is_empty() => None,
            _ => {
                let settings = settings.iter().filter_map(|text| parse_setting(text));
                let named =
                    settings.map(|(name, value)| (setting_name(name), setting_value(value)));
                serde_json::to_string(&named.collect::<serde_json::Map<_, _>>()).ok()
            }
        };
        tables.http_frames.push(HttpFrame {
            vantage: Some("client"),
            connection: Some(&self.connection),
            time_ns: *time_ns,
            http_version: "HTTP/2",
            event: if direction == Direction::Up {
                "sent"
            } else {
                "received"
            },
            direction: Some(direction.as_str()),
            stream_id,
            frame_type: &kind,
            length_bytes: size,
            end_stream: fin,
            value: value.or(error),
            detail: detail.as_deref(),
            ..HttpFrame::default()
        });
        if kind == "window_update" {
            let (stream, way) = (stream_id.unwrap_or_default(), direction.reverse());
            let window = self.window(stream, way);
            window.increments = window
                .increments
                .saturating_add(params.unsigned("delta").unwrap_or_default());
            self.flow_control("limit", way, stream, *time_ns, tables);
        }
        let Some(id) = stream_id.filter(|&id| id != 0) else {
            return;
        };
        let way = (id, direction);
        match kind.as_str() {
            "headers" => self
                .streams
                .data(&self.connection, way, (0, 0), *time_ns, tables),
            "data" => {
                for stream in [0, id] {
                    let window = self.window(stream, direction);
                    window.sent = window.sent.saturating_add(size.unwrap_or_default());
                }
                let offset = self.streams.next_offset(id, direction);
                self.streams.data(
                    &self.connection,
                    way,
                    (offset, size.unwrap_or_default()),
                    *time_ns,
                    tables,
                );
            }
            "rst_stream" => self.streams.end(&self.connection, way, "reset", tables),
            _ => {}
        }
        if fin == Some(true) {
            self.streams.end(&self.connection, way, "fin", tables);
        }
    }

    fn state(
        &mut self,
        name: &str,
        event: &Event<'_>,
        constants: &Constants,
        tables: &mut Tables,
    ) -> bool {
        let Event {
            time_ns, params, ..
        } = event;
        let stream_id = params.unsigned("stream_id");
        match name {
            "STREAM_STALLED_BY_SESSION_SEND_WINDOW" => {
                self.flow_control("blocked", Direction::Up, 0, *time_ns, tables);
            }
            "STREAM_STALLED_BY_STREAM_SEND_WINDOW" => {
                self.flow_control(
                    "blocked",
                    Direction::Up,
                    stream_id.unwrap_or_default(),
                    *time_ns,
                    tables,
                );
            }
            "" if event.phase == Phase::Begin => {
                parameters::push_all(&self.connection, *time_ns, "http2_session", params, tables);
            }
            "CLOSE" => {
                let error = params
                    .number("net_error")
                    .map(|number| constants.net_error(number));
                let reason = params.text("description").unwrap_or_default();
                let connection = &self.connection;
                parameters::push(
                    connection,
                    *time_ns,
                    "connection_closed.connection_error",
                    &error.unwrap_or_default(),
                    tables,
                );
                parameters::push(
                    connection,
                    *time_ns,
                    "connection_closed.reason",
                    &reason,
                    tables,
                );
            }
            "" | "INITIALIZED" => {}
            _ => return false,
        }
        true
    }

    fn window(&mut self, stream: u64, direction: Direction) -> &mut Window {
        if self.windows.len() >= MAX_WINDOWS && !self.windows.contains_key(&(stream, direction)) {
            // The connection's own stand first and stay.
            let oldest = self
                .windows
                .range((1, Direction::Up)..)
                .next()
                .map(|(&key, _)| key);
            oldest.and_then(|key| self.windows.remove(&key));
        }
        self.windows.entry((stream, direction)).or_default()
    }

    fn flow_control(
        &mut self,
        event: &'static str,
        direction: Direction,
        stream: u64,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let window = *self.window(stream, direction);
        let initial = match (stream, direction) {
            (0, _) => INITIAL_WINDOW,
            (_, Direction::Up) => self.initial_up,
            (_, Direction::Down) => self.initial_down,
        };
        let limit = initial.saturating_add(window.increments);
        tables.flow_control.push(FlowControl {
            vantage: Some("client"),
            connection: Some(&self.connection),
            time_ns,
            transport: "tcp",
            event,
            direction: Some(direction.as_str()),
            scope: if stream == 0 { "connection" } else { "stream" },
            stream_id: (stream != 0).then_some(stream),
            limit: Some(limit),
            window_bytes: Some(limit.saturating_sub(window.sent)),
        });
    }

    fn setting(&mut self, owner: &str, time_ns: i64, name: &str, value: &str, tables: &mut Tables) {
        let number = name.split(' ').next().unwrap_or_default();
        let name = setting_name(name);
        if let (true, Ok(window)) = (number == "4", value.parse()) {
            // What one end announces limits the other.
            *(if owner == "settings.client" {
                &mut self.initial_down
            } else {
                &mut self.initial_up
            }) = window;
        }
        parameters::push(
            &self.connection,
            time_ns,
            &format!("{owner}.{name}"),
            value,
            tables,
        );
    }

    pub(super) fn finish(&mut self, tables: &mut Tables) {
        self.streams.finish(&self.connection, tables);
    }
}

/// Count settings that are not as Chromium writes them.
fn count_malformed(settings: &[String], params: &Params<'_>, tables: &mut Tables) {
    if settings.is_empty() && params.raw("settings").is_some_and(|raw| raw != "[]") {
        tables.count(
            "malformed_settings",
            Severity::DataLoss,
            "settings that are not a list of texts",
        );
    }
}

/// An object of what is known.
fn told(members: [(&str, Option<&str>); 2]) -> Option<String> {
    let known = members
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
    let known: serde_json::Map<_, _> = known.collect();
    (!known.is_empty()).then(|| serde_json::Value::Object(known).to_string())
}

/// Read a setting: `[id:4 (SETTINGS_INITIAL_WINDOW_SIZE) value:6291456]`.
fn parse_setting(text: &str) -> Option<(&str, &str)> {
    let (id, value) = text.trim_matches(['[', ']']).split_once(" value:")?;
    Some((id.strip_prefix("id:")?, value))
}

/// The name in `5 (SETTINGS_MAX_FRAME_SIZE)`, in small letters; else what stands there.
fn setting_name(text: &str) -> String {
    let name = text
        .split_once(" (SETTINGS_")
        .map_or(text, |(_, name)| name.trim_end_matches(')'));
    match name {
        // What RFC 9218 calls it.
        "DEPRECATE_HTTP2_PRIORITIES" => "no_rfc7540_priorities".to_owned(),
        _ => name.to_ascii_lowercase(),
    }
}

/// The priority of a request by RFC 7540, where there is none by RFC 9218.
pub(super) fn weight(params: &Params<'_>) -> Option<String> {
    params.flag("has_priority").filter(|&has| has)?;
    let exclusive = if params.flag("exclusive") == Some(true) {
        ", exclusive"
    } else {
        ""
    };
    let parent = params.unsigned("parent_stream_id").unwrap_or_default();
    Some(format!(
        "weight={}, parent={parent}{exclusive}",
        params.unsigned("weight")?
    ))
}
