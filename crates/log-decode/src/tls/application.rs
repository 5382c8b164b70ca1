// SPDX-License-Identifier: Apache-2.0
//! What TLS carries, told by ALPN (RFC 7301) or by its first bytes; 0-RTT data wait until the server takes them.

use crate::http::h2;
use crate::tables::Tables;
use crate::{Direction, End, Severity};

/// Servers take 16 KiB of 0-RTT data, some more.
const MAX_EARLY_BYTES: usize = 1 << 20;

/// The protocol above.
#[derive(Debug)]
enum Protocol {
    Unknown,
    Http2(Box<h2::Connection>),
    Other,
}

/// Takes the plaintext of application data.
#[derive(Debug)]
pub(super) struct Application {
    connection: String,
    vantage: Option<End>,
    protocol: Protocol,
    /// Opened, and not taken by the server yet.
    early: Vec<(i64, Vec<u8>)>,
    early_bytes: usize,
}

impl Application {
    pub(super) fn new(connection: String, vantage: Option<End>) -> Self {
        Self {
            connection,
            vantage,
            protocol: Protocol::Unknown,
            early: Vec::new(),
            early_bytes: 0,
        }
    }

    /// Both ends have agreed on a protocol.
    pub(super) fn agree(&mut self, alpn: &str, tables: &mut Tables) {
        self.protocol = match alpn {
            "h2" => self.http2(),
            _ => {
                tables.count(
                    "unknown_application_protocol",
                    Severity::Info,
                    "TLS connections of another protocol than h2: what they carry is not decoded",
                );
                Protocol::Other
            }
        };
    }

    fn http2(&self) -> Protocol {
        let http = h2::Connection::new(self.connection.clone(), self.vantage);
        Protocol::Http2(Box::new(http))
    }

    /// 0-RTT data, of which it is not known yet whether the server takes them.
    pub(super) fn early(&mut self, time_ns: i64, bytes: &[u8]) {
        self.early_bytes += bytes.len();
        if self.early_bytes <= MAX_EARLY_BYTES {
            self.early.push((time_ns, bytes.to_vec()));
        }
    }

    /// The server has said whether it takes 0-RTT data.
    pub(super) fn early_verdict(&mut self, taken: bool, tables: &mut Tables) {
        let early = std::mem::take(&mut self.early);
        if early.is_empty() {
            return;
        }
        if !taken {
            tables.count(
                "early_data_rejected",
                Severity::Info,
                "0-RTT data that the server did not take: the client sends them again",
            );
            return;
        }
        for (time_ns, bytes) in early {
            self.data(Direction::Up, time_ns, &bytes, tables);
        }
    }

    /// The next bytes one way.
    pub(super) fn data(
        &mut self,
        direction: Direction,
        time_ns: i64,
        bytes: &[u8],
        tables: &mut Tables,
    ) {
        if let Protocol::Unknown = self.protocol {
            let http2 = match direction {
                Direction::Up => bytes.starts_with(b"PRI "),
                // The server's first frame is SETTINGS (RFC 9113 section 3.4).
                Direction::Down => matches!(bytes, [0, _, _, 4, 0, 0, 0, 0, 0, ..]),
            };
            if http2 {
                self.protocol = self.http2();
            } else {
                self.agree("", tables);
            }
        }
        if let Protocol::Http2(http) = &mut self.protocol {
            http.data(direction, time_ns, bytes, tables);
        }
    }

    /// Whether what comes is of no use.
    pub(super) fn is_other(&self) -> bool {
        matches!(self.protocol, Protocol::Other)
    }

    pub(super) fn gap(&mut self, direction: Direction, bytes_missing: u64, tables: &mut Tables) {
        if let Protocol::Http2(http) = &mut self.protocol {
            http.gap(direction, bytes_missing, tables);
        }
    }

    pub(super) fn finish(&mut self, tables: &mut Tables) {
        if let Protocol::Http2(mut http) = std::mem::replace(&mut self.protocol, Protocol::Other) {
            http.finish(tables);
        }
    }
}
