// SPDX-License-Identifier: Apache-2.0
//! The end that sent the bytes at the start of a segment, where they say so themselves.

use crate::http::h1;
use crate::End;

/// The sender of `payload`: a TLS hello or certificate in clear text, or the first line of an HTTP message.
pub(super) fn sender(payload: &[u8]) -> Option<End> {
    match payload {
        // A handshake record (RFC 8446 section 5.1) and the type of its message: hellos, certificate, key exchange.
        [22, 3, 0..=4, _, _, 1 | 16, ..] => Some(End::Client),
        [22, 3, 0..=4, _, _, 2 | 11 | 12 | 14, ..] => Some(End::Server),
        _ if payload.starts_with(b"PRI * HTTP/2.0\r\n") => Some(End::Client),
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', ..] => Some(End::Server),
        _ if h1::Connection::is_request_line(payload) => Some(End::Client),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_by_what_only_it_sends() {
        for (payload, expected) in [
            (&[22, 3, 1, 0, 200, 1, 0, 0][..], Some(End::Client)),
            (&[22, 3, 3, 0, 90, 2, 0], Some(End::Server)),
            (&[22, 3, 3, 9, 0, 11, 0], Some(End::Server)),
            (b"PRI * HTTP/2.0\r\n\r\nSM", Some(End::Client)),
            (b"HTTP/1.1 200 OK\r\n", Some(End::Server)),
            (b"M-SEARCH * HTTP/1.1\r\n", Some(End::Client)),
            (b"GET key\r\n", None),
            (&[23, 3, 3, 0, 5, 1], None),
            (b"", None),
        ] {
            assert_eq!(sender(payload), expected, "{payload:?}");
        }
    }
}
