// SPDX-License-Identifier: Apache-2.0
//! A request and its response, gathered from frames until it can be a row of the table `http_requests`.

use super::fields::Fields;
use crate::tables::{HttpRequest, Tables};
use crate::{Direction, End};

/// Values that the rows of one connection share.
#[derive(Debug)]
pub(super) struct Context {
    pub connection: String,
    pub vantage: Option<End>,
    pub transport: &'static str,
    pub http_version: &'static str,
}

impl Context {
    pub(super) fn vantage(&self) -> Option<&'static str> {
        self.vantage.map(End::as_str)
    }
}

/// A span of time that ends with the later instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub first_ns: i64,
    pub last_ns: i64,
}

/// Longest URL that is kept; a cell of a table holds no more.
const MAX_URL_BYTES: usize = 4096;
/// Longest method, content type or priority: compression makes long ones cheap to send and dear to keep.
const MAX_WORD_BYTES: usize = 256;

fn kept(text: &str, most: usize) -> String {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

fn word(text: &str) -> String {
    kept(text, MAX_WORD_BYTES)
}

/// State of a request so far.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// The version of this response, where it may be another than its connection's.
    pub http_version: Option<&'static str>,
    method: Option<String>,
    url: Option<String>,
    status: Option<u16>,
    content_type: Option<String>,
    content_encoding: Option<String>,
    content_range: Option<String>,
    alt_svc: Option<String>,
    priority: Option<String>,
    priority_updated: Option<String>,
    promised_ns: Option<i64>,
    send_start_ns: Option<i64>,
    send_end_ns: Option<i64>,
    headers_ns: Option<i64>,
    first_byte_ns: Option<i64>,
    last_byte_ns: Option<i64>,
    request_header_bytes: Option<u64>,
    request_body_bytes: Option<u64>,
    response_header_bytes: Option<u64>,
    response_body_bytes: Option<u64>,
    error: Option<String>,
}

impl Exchange {
    /// A header section went by, whether or not its fields can be read.
    pub(super) fn header_section(&mut self, direction: Direction, span: Span, bytes: u64) {
        let sum = match direction {
            Direction::Up => {
                self.send_start_ns.get_or_insert(span.first_ns);
                self.request_body_bytes.get_or_insert(0);
                &mut self.request_header_bytes
            }
            Direction::Down => {
                self.response_body_bytes.get_or_insert(0);
                &mut self.response_header_bytes
            }
        };
        *sum = Some(sum.unwrap_or(0).saturating_add(bytes));
    }

    /// The fields of a section, known from `decoded_ns` on; trailers change nothing.
    pub(super) fn fields(&mut self, direction: Direction, fields: &Fields, decoded_ns: i64) {
        match direction {
            Direction::Up => self.request_fields(fields),
            Direction::Down => self.response_fields(fields, decoded_ns),
        }
    }

    fn request_fields(&mut self, fields: &Fields) {
        if self.method.is_some() {
            return;
        }
        self.method = fields.get(":method").map(word);
        if let Some(authority) = fields.get(":authority").or_else(|| fields.get("host")) {
            // `*` stands for the server as a whole (RFC 9110 section 7.1).
            let path = fields.get(":path").filter(|&path| path != "*");
            let url = match (fields.get(":scheme"), path) {
                (Some(scheme), path) => {
                    format!("{scheme}://{authority}{}", path.unwrap_or_default())
                }
                (None, _) => authority.to_owned(),
            };
            self.url = Some(kept(&url, MAX_URL_BYTES));
        }
        if let Some(priority) = fields.get("priority") {
            self.priority = Some(word(priority));
        }
    }

    fn response_fields(&mut self, fields: &Fields, decoded_ns: i64) {
        let Some(status) = fields.get(":status").and_then(|text| text.parse().ok()) else {
            return;
        };
        // 101 is the last that HTTP/1.1 says (RFC 9110 section 15.2.2); HTTP/2 and HTTP/3 have none.
        if self.status.is_none() && (status == 101 || !(100..200).contains(&status)) {
            self.status = Some(status);
            self.headers_ns = Some(decoded_ns);
            self.content_type = fields.get("content-type").map(word);
            self.content_encoding = fields.get("content-encoding").map(word);
            self.content_range = fields.get("content-range").map(word);
            self.alt_svc = fields.get("alt-svc").map(word);
        }
    }

    /// True if the response is more than an interim one.
    pub(super) fn has_final_response(&self) -> bool {
        self.status.is_some()
    }

    /// The server announced this request itself (RFC 9113 section 8.4, RFC 9114 section 4.6).
    pub(super) fn promise(&mut self, time_ns: i64) {
        self.promised_ns = Some(time_ns);
    }

    /// Take over what a `PUSH_PROMISE` said of the request that this answers.
    pub(super) fn adopt_request(&mut self, promise: Self) {
        self.promised_ns = promise.promised_ns;
        self.method = promise.method;
        self.url = promise.url;
        self.priority = promise.priority;
    }

    /// The priority as RFC 7540 has it; that of RFC 9218 goes before it.
    pub(super) fn tree_priority(&mut self, priority: &str) {
        self.priority.get_or_insert_with(|| word(priority));
    }

    pub(super) fn update_priority(&mut self, priority: &str) {
        self.priority_updated = Some(word(priority));
    }

    /// Bytes of a body went by.
    pub(super) fn body(&mut self, direction: Direction, time_ns: i64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let sum = match direction {
            Direction::Up => &mut self.request_body_bytes,
            Direction::Down => {
                self.first_byte_ns.get_or_insert(time_ns);
                &mut self.response_body_bytes
            }
        };
        *sum = Some(sum.unwrap_or(0).saturating_add(bytes));
    }

    /// The request, or the response, is whole.
    pub(super) fn end(&mut self, direction: Direction, time_ns: i64) {
        let end = match direction {
            Direction::Up => &mut self.send_end_ns,
            Direction::Down => &mut self.last_byte_ns,
        };
        end.get_or_insert(time_ns);
    }

    /// Record that the end that sends in `direction` gave it up; the first error counts, and none after the response.
    pub(super) fn fail(&mut self, direction: Direction, error: &str) {
        if self.last_byte_ns.is_none() && self.error.is_none() {
            self.error = Some(format!("{error} from the {}", direction.sender().as_str()));
        }
    }

    /// Bytes of a body: that there are none is known only where it has ended.
    fn told(&self, bytes: Option<u64>, end_ns: Option<i64>) -> Option<u64> {
        let has_ended = end_ns.is_some() || self.error.is_some();
        bytes.filter(|&bytes| bytes > 0 || has_ended)
    }

    pub(super) fn push(&self, context: &Context, stream_id: Option<u64>, tables: &mut Tables) {
        let known = [
            self.promised_ns,
            self.send_start_ns,
            self.headers_ns,
            self.first_byte_ns,
            self.last_byte_ns,
        ];
        let Some(time_ns) = known.into_iter().flatten().next() else {
            return;
        };
        tables.http_requests.push(HttpRequest {
            vantage: context.vantage(),
            connection: Some(&context.connection),
            time_ns,
            transport: Some(context.transport),
            http_version: Some(self.http_version.unwrap_or(context.http_version)),
            stream_id,
            method: self.method.as_deref(),
            url: self.url.as_deref(),
            status: self.status,
            content_type: self.content_type.as_deref(),
            content_encoding: self.content_encoding.as_deref(),
            content_range: self.content_range.as_deref(),
            alt_svc: self.alt_svc.as_deref(),
            priority: self.priority.as_deref(),
            priority_updated: self.priority_updated.as_deref(),
            send_start_ns: self.send_start_ns,
            send_end_ns: self.send_end_ns,
            headers_ns: self.headers_ns,
            first_byte_ns: self.first_byte_ns,
            last_byte_ns: self.last_byte_ns,
            request_header_bytes: self.request_header_bytes,
            request_body_bytes: self.told(self.request_body_bytes, self.send_end_ns),
            response_header_bytes: self.response_header_bytes,
            response_body_bytes: self.told(self.response_body_bytes, self.last_byte_ns),
            error: self.error.as_deref(),
            ..HttpRequest::default()
        });
    }
}
