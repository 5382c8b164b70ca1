// SPDX-License-Identifier: Apache-2.0
//! Requests as the events `Resource…` tell of them.

use super::event::{to_ns, Event};
use crate::tables::{HttpRequest, Tables};
use crate::Severity;
use serde_json::Value;
use std::collections::BTreeMap;

/// Requests that are open at a time.
const MAX_REQUESTS: usize = 1 << 14;
const NS_PER_S: f64 = 1e9;

#[derive(Debug, Default)]
struct Request {
    method: Option<String>,
    url: Option<String>,
    resource_type: Option<String>,
    priority: Option<String>,
    priority_updated: Option<String>,
    initiator: Option<String>,
    http_version: Option<&'static str>,
    connection: Option<String>,
    status: Option<u16>,
    content_type: Option<String>,
    from_cache: Option<bool>,
    queued_ns: Option<i64>,
    timing: Value,
    first_byte_ns: Option<i64>,
    last_byte_ns: Option<i64>,
    /// Bytes that came from the network until the header was whole, and until the end: both with
    /// the header.
    encoded: (Option<u64>, Option<u64>),
    decoded: Option<u64>,
    failed: bool,
}

impl Request {
    /// The body as it came: nothing of it is known where the network did not deliver it, or no header.
    fn body_bytes(&self) -> Option<u64> {
        let (header, whole) = self.encoded;
        let from_network = self.from_cache != Some(true) && self.http_version.is_some();
        whole?.checked_sub(header?).filter(|_| from_network)
    }
}

/// Requests that have not ended, by id: those of navigations begin in another process than they end in.
#[derive(Debug, Default)]
pub(super) struct Requests(BTreeMap<String, Request>);

impl Requests {
    /// Take one event; false if it is about no request.
    pub(super) fn event(&mut self, event: &Event<'_>, time_ns: i64, tables: &mut Tables) -> bool {
        let args: Value = event
            .args
            .and_then(|args| serde_json::from_str(args.get()).ok())
            .unwrap_or_default();
        let data = &args["data"];
        let Some(id) = data["requestId"].as_str() else {
            return false;
        };
        let key = id.to_owned();
        if event.name == "ResourceSendRequest" {
            // Each redirect is another request with the same id.
            let hop = self
                .0
                .get(&key)
                .is_some_and(|request| request.url.is_some());
            if let Some(before) = self.0.remove(&key).filter(|_| hop) {
                push(&before, tables);
            }
        }
        if self.0.len() >= MAX_REQUESTS && !self.0.contains_key(&key) {
            if let Some((_, other)) = self.0.pop_first() {
                tables.count(
                    "requests_cut_short",
                    Severity::Notice,
                    "too many requests at a time: some end before they do",
                );
                push(&other, tables);
            }
        }
        let text = |name: &str| data[name].as_str().map(str::to_owned);
        let request = self.0.entry(key.clone()).or_default();
        match event.name.as_ref() {
            "ResourceWillSendRequest" => request.queued_ns = Some(time_ns),
            "ResourceSendRequest" => {
                request.queued_ns.get_or_insert(time_ns);
                request.url = text("url");
                request.method = text("requestMethod");
                request.resource_type = text("resourceType");
                request.priority = text("priority");
                request.initiator = data["initiator"]["url"].as_str().map(str::to_owned);
            }
            "ResourceChangePriority" => request.priority_updated = text("priority"),
            "ResourceReceiveResponse" => {
                request.status = data["statusCode"]
                    .as_u64()
                    .and_then(|status| u16::try_from(status).ok())
                    .filter(|&status| status > 0);
                request.content_type = text("mimeType");
                request.from_cache = data["fromCache"].as_bool();
                request.encoded.0 = length(&data["encodedDataLength"]);
                request.http_version = data["protocol"].as_str().and_then(http_version);
                request.connection = data["connectionId"]
                    .as_u64()
                    .filter(|&id| id > 0)
                    .map(|id| id.to_string());
                request.timing = data["timing"].clone();
            }
            "ResourceReceivedData" => {
                // Its `encodedDataLength` is that of the decoded data, whatever its name.
                request.first_byte_ns.get_or_insert(time_ns);
            }
            "ResourceMarkAsCached" => request.from_cache = Some(true),
            "ResourceFinish" => {
                let told = data["finishTime"]
                    .as_f64()
                    .filter(|&time| time > 0.0)
                    .and_then(|time| to_ns(time, NS_PER_S));
                request.last_byte_ns = told.or(Some(time_ns));
                request.failed = data["didFail"] == true;
                request.encoded.1 = length(&data["encodedDataLength"]);
                request.decoded = length(&data["decodedBodyLength"]).filter(|_| !request.failed);
                if let Some(request) = self.0.remove(&key) {
                    push(&request, tables);
                }
            }
            _ => return false,
        }
        true
    }

    /// The trace ends: what has not finished is written as far as it came.
    pub(super) fn finish(&mut self, tables: &mut Tables) {
        for request in std::mem::take(&mut self.0).into_values() {
            tables.count(
                "request_without_end",
                Severity::Notice,
                "the trace ends before the request does",
            );
            push(&request, tables);
        }
    }
}

fn push(request: &Request, tables: &mut Tables) {
    let timing = &request.timing;
    let start_s = timing["requestTime"].as_f64();
    // The renderer hears of a navigation when it is answered; the network's own start is that of the request.
    let started_ns = start_s
        .filter(|&s| s > 0.0)
        .and_then(|s| to_ns(s, NS_PER_S));
    let queued_ns = [request.queued_ns, started_ns].into_iter().flatten().min();
    // In milliseconds since then; -1 means that there was none.
    let instant = |name: &str| {
        let ms = timing[name].as_f64().filter(|&ms| ms >= 0.0)?;
        to_ns(start_s?, NS_PER_S)?.checked_add(to_ns(ms, 1e6)?)
    };
    tables.http_requests.push(HttpRequest {
        vantage: Some("client"),
        connection: request.connection.as_deref(),
        time_ns: queued_ns.or(request.last_byte_ns).unwrap_or_default(),
        transport: request
            .http_version
            .map(|version| if version == "HTTP/3" { "quic" } else { "tcp" }),
        http_version: request.http_version,
        method: request.method.as_deref(),
        url: request
            .url
            .as_deref()
            .map(|url| url.split('#').next().unwrap_or_default()),
        status: request.status,
        content_type: request.content_type.as_deref(),
        resource_type: request.resource_type.as_deref(),
        priority: request.priority.as_deref(),
        priority_updated: request.priority_updated.as_deref(),
        initiator: request
            .initiator
            .as_deref()
            .map(|url| url.split('#').next().unwrap_or_default()),
        queued_ns,
        name_start_ns: instant("dnsStart"),
        name_end_ns: instant("dnsEnd"),
        connect_start_ns: instant("connectStart"),
        secure_start_ns: instant("sslStart"),
        connect_end_ns: instant("connectEnd"),
        send_start_ns: instant("sendStart"),
        send_end_ns: instant("sendEnd"),
        headers_ns: instant("receiveHeadersEnd"),
        // The renderer hears of data later than the network; what it hears behind the end says nothing of the first.
        first_byte_ns: request
            .first_byte_ns
            .filter(|&first| request.last_byte_ns.is_none_or(|last| first <= last)),
        last_byte_ns: request.last_byte_ns,
        response_body_bytes: request.body_bytes(),
        response_decoded_bytes: request.decoded,
        from_cache: request.from_cache,
        error: request.failed.then_some("failed"),
        ..HttpRequest::default()
    });
}

/// Chromium writes lengths as doubles, and -1 for one that it does not know.
fn length(value: &Value) -> Option<u64> {
    let bytes = value
        .as_f64()
        .filter(|bytes| (0.0..9.0e15).contains(bytes))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "its range is checked"
    )]
    Some(bytes as u64)
}

fn http_version(protocol: &str) -> Option<&'static str> {
    Some(match protocol {
        "http/1.0" => "HTTP/1.0",
        "http/1.1" => "HTTP/1.1",
        "h2" => "HTTP/2",
        h3 if h3 == "h3" || h3.starts_with("h3-") => "HTTP/3",
        _ => return None,
    })
}
