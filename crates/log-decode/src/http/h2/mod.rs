// SPDX-License-Identifier: Apache-2.0
//! HTTP/2 (RFC 9113) over one TCP connection.

use crate::tables::Tables;
use crate::{Direction, End};

/// Both directions of one connection.
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

    /// The next bytes one way, and when they could be read.
    pub fn data(&mut self, direction: Direction, time_ns: i64, bytes: &[u8], tables: &mut Tables) {
        let _ = (direction, time_ns, bytes, tables, &self.vantage);
    }

    /// Bytes are missing: this way cannot be followed any further.
    pub fn gap(&mut self, direction: Direction, bytes_missing: u64, tables: &mut Tables) {
        let _ = (direction, bytes_missing, tables);
    }

    /// The log ends: write what is known of streams and requests.
    pub fn finish(&mut self, tables: &mut Tables) {
        let _ = (tables, &self.connection);
    }
}
