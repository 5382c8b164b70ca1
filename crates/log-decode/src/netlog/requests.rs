// SPDX-License-Identifier: Apache-2.0
//! Requests, hop by hop.

use super::constants::{Constants, Phase};
use super::sessions::Sessions;
use super::waits::Waits;
use super::Event;
use crate::tables::{HttpRequest, Tables};
use crate::{Direction, Severity};
use std::collections::BTreeMap;

/// Requests that are remembered at a time.
const MAX_SOURCES: usize = 1 << 14;

/// One hop of a request: each redirect starts another.
#[derive(Debug, Default)]
struct Request {
    method: Option<String>,
    url: Option<String>,
    http_version: Option<&'static str>,
    status: Option<u16>,
    content_type: Option<String>,
    content_encoding: Option<String>,
    priority: Option<String>,
    job: Option<i64>,
    quic_session: Option<i64>,
    stream_id: Option<u64>,
    queued_ns: Option<i64>,
    send_start_ns: Option<i64>,
    send_end_ns: Option<i64>,
    headers_ns: Option<i64>,
    first_byte_ns: Option<i64>,
    last_byte_ns: Option<i64>,
    /// Bytes read before and after the content encoding was undone; the first is told only where
    /// there is one.
    read: (Option<u64>, Option<u64>),
    read_from_cache: bool,
    error: Option<i64>,
}

impl Request {
    /// The body as it came. `framed` is the payload of its frames, which counts HTTP/2's padding; what the program read
    /// does not, but ends where the program lost interest, and may come from the cache in part.
    fn body_bytes(&self, framed: Option<u64>) -> Option<u64> {
        let read = self.read.0.or(self.read.1);
        match (framed, read, self.http_version) {
            (Some(framed), Some(read), Some("HTTP/2")) if self.error.is_none() => {
                Some(framed.min(read))
            }
            (Some(framed), ..) => Some(framed),
            (None, read, _) => read.filter(|_| !self.read_from_cache),
        }
    }
}

/// All that are not over yet.
#[derive(Debug, Default)]
pub(super) struct Requests {
    by_id: BTreeMap<i64, Request>,
    waits: Waits,
}

impl Requests {
    /// Take one event; false if no table holds it.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        constants: &Constants,
        sessions: &Sessions,
        tables: &mut Tables,
    ) -> bool {
        self.waits.event(event) || self.request_event(event, constants, sessions, tables)
    }

    /// The request that stands behind `source` (its job, or itself) went out on a stream.
    pub(super) fn sent_on(
        &mut self,
        source: i64,
        session: i64,
        stream: u64,
        priority: Option<String>,
    ) {
        self.waits.sent_on(source, session, stream, priority);
    }

    /// `client address:port-server address:port` of a socket.
    pub(super) fn connection(&self, socket: i64) -> Option<String> {
        self.waits.get(socket)?.connection()
    }

    fn request_event(
        &mut self,
        event: &Event<'_>,
        constants: &Constants,
        sessions: &Sessions,
        tables: &mut Tables,
    ) -> bool {
        let Event {
            time_ns,
            params,
            source,
            phase,
            name,
        } = event;
        let time_ns = *time_ns;
        let error = params.number("net_error").filter(|&number| number < 0);
        if *name == "REQUEST_ALIVE" && *phase == Phase::End {
            if let Some(mut request) = self.by_id.remove(source) {
                request.error = error.or(request.error);
                self.push(*source, &request, constants, sessions, tables);
            }
            return true;
        }
        let is_first =
            matches!(*name, "REQUEST_ALIVE" | "URL_REQUEST_START_JOB") && *phase == Phase::Begin;
        if is_first && self.by_id.len() >= MAX_SOURCES && !self.by_id.contains_key(source) {
            if let Some((oldest, request)) = self.by_id.pop_first() {
                tables.count(
                    "requests_cut_short",
                    Severity::Notice,
                    "too many requests at a time: the oldest end before they do",
                );
                self.push(oldest, &request, constants, sessions, tables);
            }
        }
        if is_first {
            let request = self.by_id.entry(*source).or_default();
            if *name == "URL_REQUEST_START_JOB" && request.method.is_some() {
                let hop = std::mem::take(request);
                self.push(*source, &hop, constants, sessions, tables);
            }
        }
        let Some(request) = self.by_id.get_mut(source) else {
            return false;
        };
        let text = |name| params.text(name).map(std::borrow::Cow::into_owned);
        match (*name, *phase) {
            ("REQUEST_ALIVE" | "URL_REQUEST_START_JOB", Phase::Begin) => {
                request.queued_ns.get_or_insert(time_ns);
                request.url = text("url").or(request.url.take());
                request.method = text("method").or(request.method.take());
                request.priority = text("priority").or(request.priority.take());
            }
            ("URL_REQUEST_START_JOB", Phase::End) => request.error = error.or(request.error),
            ("HTTP_STREAM_REQUEST_BOUND_TO_JOB", _) => request.job = params.dependency(),
            ("HTTP_STREAM_REQUEST_BOUND_TO_QUIC_SESSION", _) => {
                request.quic_session = params.dependency();
            }
            ("HTTP_TRANSACTION_SEND_REQUEST", Phase::Begin) => {
                request.send_start_ns = Some(time_ns);
            }
            ("HTTP_TRANSACTION_SEND_REQUEST", _) => request.send_end_ns = Some(time_ns),
            ("HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS", _) => {
                request.http_version = Some("HTTP/3");
                request.stream_id = params.unsigned("quic_stream_id");
                request.priority = params.header("priority").or(request.priority.take());
            }
            ("HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS", _) => {
                request.http_version = Some("HTTP/2");
                request.priority = params.header("priority").or(request.priority.take());
            }
            ("HTTP_TRANSACTION_SEND_REQUEST_HEADERS", _) => request.http_version = Some("HTTP/1.1"),
            ("HTTP_TRANSACTION_READ_HEADERS", Phase::End) => request.headers_ns = Some(time_ns),
            ("HTTP_TRANSACTION_READ_RESPONSE_HEADERS", _) => {
                let status = params
                    .texts("headers")
                    .first()
                    .and_then(|line| line.split(' ').nth(1)?.parse().ok());
                request.status = status.or(request.status);
                request.content_type = params
                    .header("content-type")
                    .or(request.content_type.take());
                request.content_encoding = params.header("content-encoding");
            }
            ("HTTP_CACHE_READ_DATA" | "HTTP_CACHE_READ_INFO", Phase::End) => {
                request.read_from_cache = true;
            }
            ("URL_REQUEST_JOB_BYTES_READ" | "URL_REQUEST_JOB_FILTERED_BYTES_READ", _) => {
                request.first_byte_ns.get_or_insert(time_ns);
                request.last_byte_ns = Some(time_ns);
                let sum = if *name == "URL_REQUEST_JOB_BYTES_READ" {
                    &mut request.read.0
                } else {
                    &mut request.read.1
                };
                let read = params.unsigned("byte_count").unwrap_or_default();
                *sum = Some(sum.unwrap_or_default().saturating_add(read));
            }
            _ => return false,
        }
        true
    }

    fn push(
        &self,
        source: i64,
        request: &Request,
        constants: &Constants,
        sessions: &Sessions,
        tables: &mut Tables,
    ) {
        let own = self.waits.get(source).and_then(|wait| wait.stream);
        let wait = (request.job.map(|job| self.waits.all_of(job))).unwrap_or_default();
        let (session, stream_id) = match (request.quic_session, own.or(wait.stream)) {
            (Some(session), _) => (Some(session), request.stream_id),
            (None, Some((session, stream))) => (Some(session), Some(stream)),
            (None, None) => (None, None),
        };
        let connection = session
            .and_then(|session| sessions.connection(session))
            .map(str::to_owned)
            .or_else(|| wait.connection());
        let transport = match request.http_version {
            Some("HTTP/3") => Some("quic"),
            Some(_) => Some("tcp"),
            None => None,
        };
        let body = |direction| sessions.body_bytes(session?, stream_id?, direction);
        // QUIC connects and secures in one; a connection that was there already is not waited for.
        let fresh = |time: Option<i64>| {
            time.filter(|&time| request.queued_ns.is_none_or(|queued| time >= queued))
        };
        let connected = wait.secure.1.or(wait.connect.1);
        let went_out = request.send_start_ns.is_some();
        let error = request.error.map(|number| constants.net_error(number));
        tables.http_requests.push(HttpRequest {
            vantage: Some("client"),
            connection: connection.as_deref(),
            time_ns: request.queued_ns.unwrap_or_default(),
            transport,
            http_version: request.http_version,
            stream_id,
            method: request.method.as_deref(),
            url: request.url.as_deref().map(without_fragment),
            status: request.status,
            content_type: request.content_type.as_deref(),
            content_encoding: request.content_encoding.as_deref(),
            priority: request.priority.as_deref().or(wait.priority.as_deref()),
            queued_ns: request.queued_ns,
            name_start_ns: fresh(wait.name.0),
            name_end_ns: fresh(wait.name.1),
            connect_start_ns: fresh(wait.connect.0),
            secure_start_ns: fresh(wait.secure.0),
            connect_end_ns: fresh(connected),
            send_start_ns: request.send_start_ns,
            send_end_ns: request.send_end_ns,
            headers_ns: request.headers_ns,
            first_byte_ns: request.first_byte_ns,
            last_byte_ns: request.last_byte_ns,
            request_body_bytes: body(Direction::Up),
            response_body_bytes: request.body_bytes(body(Direction::Down)),
            response_decoded_bytes: request.read.1.filter(|_| request.error.is_none()),
            from_cache: (went_out || request.read_from_cache).then_some(!went_out),
            error: error.as_deref(),
            ..HttpRequest::default()
        });
    }

    /// The log ends: requests that have not are written as far as they came.
    pub(super) fn finish(
        &mut self,
        constants: &Constants,
        sessions: &Sessions,
        tables: &mut Tables,
    ) {
        let open = std::mem::take(&mut self.by_id);
        tables.stats.add(
            "request_without_end",
            open.len() as u64,
            Severity::Notice,
            "the log ends before the request does",
        );
        for (source, request) in open {
            self.push(source, &request, constants, sessions, tables);
        }
    }
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}
