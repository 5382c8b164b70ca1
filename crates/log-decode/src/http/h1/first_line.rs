// SPDX-License-Identifier: Apache-2.0
//! Recognition of a request by its first line (RFC 9112 section 3).

use super::Connection;

/// The longest method of IANA's registry has 17 characters.
const MAX_METHOD_BYTES: usize = 24;

impl Connection {
    /// True if a client's first bytes may be a request: a method in capitals, and HTTP/1 as the
    /// version if that is there.
    #[must_use]
    pub fn may_start_with(bytes: &[u8]) -> bool {
        let blank = bytes.iter().position(|&byte| byte == b' ');
        let method = bytes
            .get(..blank.unwrap_or(bytes.len()))
            .unwrap_or_default();
        let is_letter = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_');
        let line = bytes.split_inclusive(|&byte| byte == b'\n').next();
        let is_whole = line.is_some_and(|line| line.ends_with(b"\n"));
        (3..=MAX_METHOD_BYTES).contains(&method.len())
            && method.first().is_some_and(u8::is_ascii_uppercase)
            && method.iter().all(is_letter)
            && (blank.is_none() || method != b"PRI")
            && (!is_whole || Self::is_request_line(bytes))
    }

    /// True if bytes start with a whole request line (RFC 9112 section 3).
    #[must_use]
    pub fn is_request_line(bytes: &[u8]) -> bool {
        let line = bytes.split_inclusive(|&byte| byte == b'\n').next();
        let line = line.and_then(|line| line.strip_suffix(b"\n"));
        let line = line.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let mut words = line.unwrap_or_default().split(|&byte| byte == b' ');
        let (method, target, version) = (words.next(), words.next(), words.next());
        method.is_some_and(|method| !method.is_empty() && method.iter().all(u8::is_ascii_graphic))
            && target.is_some_and(|target| !target.is_empty())
            && version.is_some_and(|version| version.starts_with(b"HTTP/1."))
    }
}
