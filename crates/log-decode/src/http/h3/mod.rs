// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 (RFC 9114) over the streams of one QUIC connection.

use crate::tables::Tables;
use crate::{Direction, End};

/// All streams of one connection.
#[derive(Debug)]
pub struct Connection {
    connection: String,
    vantage: Option<End>,
}

impl Connection {
    /// A connection of which nothing has been seen.
    #[must_use]
    pub fn new(connection: String, vantage: Option<End>) -> Self {
        Self {
            connection,
            vantage,
        }
    }

    /// The next bytes of a stream one way, and when they could be read; `fin`: the stream ends this way after them.
    pub fn stream_data(
        &mut self,
        direction: Direction,
        stream_id: u64,
        time_ns: i64,
        bytes: &[u8],
        fin: bool,
        tables: &mut Tables,
    ) {
        let _ = (
            direction,
            stream_id,
            time_ns,
            bytes,
            fin,
            tables,
            &self.vantage,
        );
    }

    /// The sender gave the stream up this way (RFC 9000 section 19.4).
    pub fn reset(
        &mut self,
        direction: Direction,
        stream_id: u64,
        error_code: u64,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let _ = (direction, stream_id, error_code, time_ns, tables);
    }

    /// What a stream is for, as the column `kind` of the table `streams` says it; `None` as long as it is unknown.
    #[must_use]
    pub fn kind(&self, stream_id: u64) -> Option<&'static str> {
        let _ = stream_id;
        None
    }

    /// The log ends: write what is known of requests.
    pub fn finish(&mut self, tables: &mut Tables) {
        let _ = (tables, &self.connection);
    }
}
