// SPDX-License-Identifier: Apache-2.0
//! Headers in the words of the later versions, and what they say of the body (RFC 9112 sections 3, 4 and 6.3).

use super::reader::Framing;
use crate::http::fields::Fields;
use crate::Direction;

/// A request's header as the fields that HTTP/2 would have, `:method` and so on; `None` if it is none.
pub(super) fn request(head: &[u8], scheme: &str) -> Option<Fields> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let mut parts = lines.next()?.split(' ');
    let (method, target, version) = (parts.next()?, parts.next()?, parts.next()?);
    if !version.starts_with("HTTP/1.") {
        return None;
    }
    let mut fields = Fields::default();
    fields.push(b":method", method.as_bytes());
    if let Some((scheme, rest)) = target.split_once("://") {
        let path = rest
            .find('/')
            .map_or("", |slash| rest.get(slash..).unwrap_or_default());
        let authority = rest.get(..rest.len() - path.len()).unwrap_or_default();
        for (name, value) in [
            (":scheme", scheme),
            (":authority", authority),
            (":path", path),
        ] {
            fields.push(name.as_bytes(), value.as_bytes());
        }
    } else if method == "CONNECT" {
        fields.push(b":authority", target.as_bytes());
    } else {
        fields.push(b":scheme", scheme.as_bytes());
        fields.push(b":path", target.as_bytes());
    }
    push_lines(lines, &mut fields);
    Some(fields)
}

/// A response's header with its status as `:status`; `None` if it is none.
pub(super) fn response(head: &[u8]) -> Option<Fields> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let mut parts = lines.next()?.split(' ');
    let (version, status) = (parts.next()?, parts.next()?);
    if !version.starts_with("HTTP/1.") {
        return None;
    }
    let mut fields = Fields::default();
    fields.push(b":status", status.as_bytes());
    push_lines(lines, &mut fields);
    Some(fields)
}

/// The version that a message gives itself: at the end of a request's first line, at the beginning of a response's.
pub(super) fn version(head: &[u8], direction: Direction) -> &'static str {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_older = match direction {
        Direction::Up => line.trim_ascii_end().ends_with(b" HTTP/1.0"),
        Direction::Down => line.starts_with(b"HTTP/1.0 "),
    };
    if is_older {
        "HTTP/1.0"
    } else {
        "HTTP/1.1"
    }
}

fn push_lines<'a>(lines: impl Iterator<Item = &'a str>, fields: &mut Fields) {
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        fields.push(
            name.to_ascii_lowercase().as_bytes(),
            value.trim().as_bytes(),
        );
    }
}

/// Framing of a message's body by its fields; `otherwise` if they say nothing.
pub(super) fn framing(fields: &Fields, otherwise: Framing) -> Framing {
    let coding = fields.get("transfer-encoding").map(str::to_ascii_lowercase);
    if coding.is_some_and(|coding| coding.ends_with("chunked")) {
        return Framing::Chunked;
    }
    match fields.get("content-length") {
        Some(length) => length.parse().map_or(Framing::Opaque, Framing::Length),
        None => otherwise,
    }
}
