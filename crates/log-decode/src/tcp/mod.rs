// SPDX-License-Identifier: Apache-2.0
//! TCP (RFC 9293) in captures: what was sent, acknowledged and sent again, and the bytes in order.

mod options;
mod segment;

pub(crate) use options::TcpOptions;
pub(crate) use segment::Segment;

use crate::tables::Tables;
use crate::tls::keylog::KeyLog;
use crate::End;

pub(crate) struct Connections {
    keys: KeyLog,
    vantage: Option<End>,
}

impl Connections {
    pub(crate) fn new(keys: KeyLog, vantage: Option<End>) -> Self {
        Self { keys, vantage }
    }

    pub(crate) fn segment(&mut self, segment: &Segment<'_>, tables: &mut Tables) {
        let _ = (segment, tables, &self.keys, self.vantage);
    }

    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        let _ = (tables, self.vantage);
    }
}
