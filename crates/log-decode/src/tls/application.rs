// SPDX-License-Identifier: Apache-2.0
//! Contents of TLS or TCP, told by ALPN (RFC 7301) or by their first bytes; 0-RTT data wait until
//! the server takes them.

use super::keylog::KeyLog;
use super::layer::Layer;
use super::RoundTrips;
use crate::http::h1::Successor;
use crate::http::{h1, h2};
use crate::tables::Tables;
use crate::{Direction, End, Severity};

/// Servers take 16 KiB of 0-RTT data, some more.
const MAX_EARLY_BYTES: usize = 1 << 20;
/// Tunnels within tunnels that are followed.
const MAX_TUNNELS: u8 = 3;

/// The protocol above.
#[derive(Debug)]
enum Protocol {
    Unknown,
    Http1(Box<h1::Connection>),
    Http2(Box<h2::Connection>),
    Tunnel(Box<Tunnel>),
    Other,
}

/// Bytes that a proxy passes on (RFC 9110 section 9.3.6).
#[derive(Debug)]
struct Tunnel {
    layer: Layer,
    trips: RoundTrips,
}

/// Takes the plaintext of application data.
#[derive(Debug)]
pub(super) struct Application {
    connection: String,
    vantage: Option<End>,
    keys: KeyLog,
    scheme: &'static str,
    /// Number of tunnels that it is in.
    tunnels: u8,
    protocol: Protocol,
    /// Opened, and not taken by the server yet.
    early: Vec<(i64, Vec<u8>)>,
    early_bytes: usize,
}

impl Application {
    /// `scheme` is `http` or `https`.
    pub(super) fn new(
        connection: String,
        vantage: Option<End>,
        keys: KeyLog,
        scheme: &'static str,
        tunnels: u8,
    ) -> Self {
        Self {
            connection,
            vantage,
            keys,
            scheme,
            tunnels,
            protocol: Protocol::Unknown,
            early: Vec::new(),
            early_bytes: 0,
        }
    }

    /// Both ends have agreed on a protocol.
    pub(super) fn agree(&mut self, alpn: &str, tables: &mut Tables) {
        self.protocol = match alpn {
            "h2" => self.http2(),
            "http/1.1" => self.http1(),
            _ => {
                tables.count(
                    "unknown_application_protocol",
                    Severity::DataLoss,
                    "connections of another protocol than h2 and http/1.1: what they carry is not decoded",
                );
                Protocol::Other
            }
        };
    }

    fn http1(&self) -> Protocol {
        let http = h1::Connection::new(self.connection.clone(), self.vantage, self.scheme);
        Protocol::Http1(Box::new(http))
    }

    fn http2(&self) -> Protocol {
        let http = h2::Connection::new(self.connection.clone(), self.vantage);
        Protocol::Http2(Box::new(http))
    }

    /// Tell the protocol from the first bytes, where there is no ALPN.
    fn recognise(&mut self, direction: Direction, first: &[u8], tables: &mut Tables) {
        self.protocol = match (direction, first) {
            // The client's preface; the server's first frame is SETTINGS (RFC 9113 section 3.4).
            (Direction::Up, [b'P', b'R', b'I', b' ', ..])
            | (Direction::Down, [0, _, _, 4, 0, 0, 0, 0, 0, ..]) => self.http2(),
            // A capture that begins between a request and its response.
            (Direction::Down, first) if first.starts_with(b"HTTP/1.") => self.http1(),
            (Direction::Up, first) if h1::Connection::may_start_with(first) => self.http1(),
            _ => return self.agree("", tables),
        };
    }

    /// 0-RTT data, of which it is not known yet whether the server takes them.
    pub(super) fn early(&mut self, time_ns: i64, bytes: &[u8]) {
        self.early_bytes += bytes.len();
        if self.early_bytes <= MAX_EARLY_BYTES {
            self.early.push((time_ns, bytes.to_vec()));
        }
    }

    /// 0-RTT data that wait, and what a tunnel keeps.
    pub(super) fn held_bytes(&self) -> usize {
        let tunnel = match &self.protocol {
            Protocol::Tunnel(tunnel) => tunnel.layer.held_bytes(),
            _ => 0,
        };
        tunnel + self.early_bytes.min(MAX_EARLY_BYTES)
    }

    /// The server has said whether it takes 0-RTT data.
    pub(super) fn early_verdict(&mut self, taken: bool, tables: &mut Tables) {
        let early = std::mem::take(&mut self.early);
        self.early_bytes = 0;
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
            self.recognise(direction, bytes, tables);
        }
        match &mut self.protocol {
            Protocol::Http1(http) => {
                let unread = http.data(direction, time_ns, bytes, tables);
                if let Some(successor) = http.successor() {
                    self.succeed(successor, tables);
                    let rest = bytes.get(bytes.len() - unread..).unwrap_or_default();
                    if !rest.is_empty() {
                        self.data(direction, time_ns, rest, tables);
                    }
                }
            }
            Protocol::Tunnel(tunnel) => {
                let Tunnel { layer, trips } = tunnel.as_mut();
                layer.data(direction, time_ns, bytes, trips, tables);
            }
            Protocol::Http2(http) => http.data(direction, time_ns, bytes, tables),
            Protocol::Unknown | Protocol::Other => {}
        }
    }

    /// HTTP/1.1 ends, and something else begins.
    fn succeed(&mut self, successor: Successor, tables: &mut Tables) {
        let Protocol::Http1(mut http) = std::mem::replace(&mut self.protocol, Protocol::Other)
        else {
            return;
        };
        http.finish(tables);
        match successor {
            Successor::Http2 => {
                let http = h2::Connection::after(&mut http, self.connection.clone(), self.vantage);
                self.protocol = Protocol::Http2(Box::new(http));
            }
            Successor::Tunnel if self.tunnels < MAX_TUNNELS => {
                let tunnels = self.tunnels + 1;
                let layer =
                    Layer::within(&self.connection, self.vantage, self.keys.clone(), tunnels);
                let trips = RoundTrips::default();
                self.protocol = Protocol::Tunnel(Box::new(Tunnel { layer, trips }));
            }
            Successor::Tunnel | Successor::Other => self.agree("", tables),
        }
    }

    /// One end has said that it sends no more.
    pub(super) fn end(&mut self, direction: Direction, time_ns: i64, tables: &mut Tables) {
        match &mut self.protocol {
            Protocol::Http1(http) => http.end(direction, time_ns, tables),
            Protocol::Tunnel(tunnel) => tunnel.layer.end(direction, time_ns, tables),
            Protocol::Http2(_) | Protocol::Unknown | Protocol::Other => {}
        }
    }

    /// True if what comes is of no use.
    pub(super) fn is_other(&self) -> bool {
        matches!(self.protocol, Protocol::Other)
    }

    pub(super) fn gap(&mut self, direction: Direction, bytes_missing: u64, tables: &mut Tables) {
        match &mut self.protocol {
            Protocol::Http1(http) => http.gap(direction, bytes_missing, tables),
            Protocol::Http2(http) => http.gap(direction, bytes_missing, tables),
            Protocol::Tunnel(tunnel) => tunnel.layer.gap(direction, bytes_missing, tables),
            Protocol::Unknown | Protocol::Other => {}
        }
    }

    pub(super) fn finish(&mut self, tables: &mut Tables) {
        match std::mem::replace(&mut self.protocol, Protocol::Other) {
            Protocol::Http1(mut http) => http.finish(tables),
            Protocol::Http2(mut http) => http.finish(tables),
            Protocol::Tunnel(mut tunnel) => tunnel.layer.finish(tables),
            Protocol::Unknown | Protocol::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Application;
    use crate::tables::Tables;
    use crate::tls::keylog::KeyLog;
    use crate::Direction::{Down, Up};

    /// An upgrade takes both ends on to HTTP/2, the server within the segment of its 101; its answer is stream 1's.
    #[test]
    fn an_upgrade_to_http2_is_followed() {
        let mut tables = Tables::default();
        let mut application = Application::new("c".into(), None, KeyLog::default(), "http", 0);
        let asked = b"GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n\r\n";
        application.data(Up, 1, asked, &mut tables);
        let mut answer =
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
                .to_vec();
        answer.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
        answer.extend([0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88]);
        application.data(Down, 2, &answer, &mut tables);
        application.data(Up, 3, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &mut tables);
        application.data(Up, 3, &[0, 0, 0, 4, 0, 0, 0, 0, 0], &mut tables);
        application.finish(&mut tables);
        let finished = tables.finish();
        let frames = finished.table("http_frames").unwrap();
        assert_eq!(
            frames.lines(&[
                "time_ns",
                "direction",
                "frame_type",
                "stream_id",
                "end_stream"
            ])[2..4],
            ["2|down|settings||", "2|down|headers|1|true"]
        );
        assert_eq!(frames.rows(), 5);
        let requests = finished.table("http_requests").unwrap();
        assert_eq!(
            requests.lines(&["http_version", "stream_id", "url", "status"]),
            ["HTTP/2|1|http://h/a|200"]
        );
        assert_eq!(finished.stats.iter().count(), 0);
    }
}
