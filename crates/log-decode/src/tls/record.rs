// SPDX-License-Identifier: Apache-2.0
//! Records (RFC 8446 section 5, RFC 5246 section 6.2): cut out of one direction's bytes, and opened where they stand.

use super::{tls12, tls13};

/// 2^14 bytes and 256 of expansion; 2,048 in TLS 1.2.
const MAX_BODY_BYTES: usize = (1 << 14) + 2048;
pub(super) const HEADER_BYTES: usize = 5;

pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;
pub(super) const ALERT: u8 = 21;
pub(super) const HANDSHAKE: u8 = 22;
pub(super) const APPLICATION_DATA: u8 = 23;

/// Protection of the records of one direction now.
#[derive(Debug, Default)]
pub(super) enum Protection {
    #[default]
    None,
    Tls13(tls13::Keys),
    Tls12(Box<tls12::Key>),
    /// Nothing more can be read this way.
    Closed,
}

/// One record without protection.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opened<'a> {
    pub(super) kind: u8,
    pub(super) content: &'a [u8],
}

impl Protection {
    /// Open a record in place; `None` if the keys do not fit.
    pub(super) fn open<'a>(&mut self, header: [u8; 5], body: &'a mut [u8]) -> Option<Opened<'a>> {
        let [kind, ..] = header;
        match self {
            // In TLS 1.3 what is protected is always called application data.
            Self::Tls13(keys) if kind == APPLICATION_DATA => keys.open(header, body),
            Self::Tls12(key) if kind != CHANGE_CIPHER_SPEC => {
                let content = key.open(header, body)?;
                Some(Opened { kind, content })
            }
            Self::None if kind == APPLICATION_DATA => None,
            Self::Closed => None,
            _ => Some(Opened {
                kind,
                content: body,
            }),
        }
    }
}

/// The bytes of one direction that are no whole record yet.
#[derive(Debug, Default)]
pub(super) struct Records {
    bytes: Vec<u8>,
    /// Offset at which the first record begins.
    start: usize,
    /// Bytes of this direction before `bytes`.
    passed: u64,
}

/// Record at the front of the bytes.
pub(super) enum Next<'a> {
    Record([u8; 5], &'a mut [u8]),
    /// More bytes are needed.
    Incomplete,
    /// This is no TLS.
    Foreign,
}

impl Records {
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.passed += self.start as u64;
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes of this direction before the record that `next` returns.
    pub(super) fn passed(&self) -> u64 {
        self.passed + self.start as u64
    }

    pub(super) fn next(&mut self) -> Next<'_> {
        let rest = self.bytes.get_mut(self.start..).unwrap_or_default();
        let Some(&header) = rest.first_chunk::<HEADER_BYTES>() else {
            return Next::Incomplete;
        };
        let [kind, major, _, high, low] = header;
        let length = usize::from(u16::from_be_bytes([high, low]));
        if !(CHANGE_CIPHER_SPEC..=24).contains(&kind) || major != 3 || length > MAX_BODY_BYTES {
            return Next::Foreign;
        }
        match rest.get_mut(HEADER_BYTES..HEADER_BYTES + length) {
            Some(body) => {
                self.start += HEADER_BYTES + length;
                Next::Record(header, body)
            }
            None => Next::Incomplete,
        }
    }
}
