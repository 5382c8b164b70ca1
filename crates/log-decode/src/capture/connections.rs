// SPDX-License-Identifier: Apache-2.0
//! The second stage of decoding: the connections that packets belong to, from a capture's start to its end.

use super::batch::{Batch, Item};
use crate::quic::{self, UdpDatagram};
use crate::tables::Tables;
use crate::tcp::{self, Segment};
use crate::tls::keylog::KeyLog;
use crate::{End, Severity};

/// All connections of a capture.
pub(super) struct Connections<'t> {
    keys: KeyLog,
    tcp: tcp::Connections,
    quic: quic::Connections,
    tables: &'t mut Tables,
}

impl<'t> Connections<'t> {
    pub(super) fn new(end: Option<End>, keys: KeyLog, tables: &'t mut Tables) -> Self {
        Self {
            tcp: tcp::Connections::new(keys.clone(), end),
            quic: quic::Connections::new(keys.clone(), end),
            keys,
            tables,
        }
    }

    /// Take what the next stretch of the capture holds.
    pub(super) fn take(&mut self, batch: &mut Batch) {
        let Batch { bytes, items, rows } = batch;
        for chunk in rows.drain(..) {
            self.tables.ip_packets.sealed.add(chunk);
        }
        for item in items.drain(..) {
            match item {
                Item::Segment(segment, options, payload) => {
                    let segment = Segment {
                        options: &options,
                        payload: bytes.get(payload).unwrap_or_default(),
                        ..segment
                    };
                    self.tcp.segment(&segment, self.tables);
                }
                Item::Datagram(datagram, payload) => {
                    let datagram = UdpDatagram {
                        payload: bytes.get(payload).unwrap_or_default(),
                        ..datagram
                    };
                    self.quic.datagram(&datagram, self.tables);
                }
                Item::Secrets(text) => {
                    let mut text = bytes.get(text).unwrap_or_default();
                    // Reading from memory does not fail.
                    let _ = self.keys.read(&mut text, &mut self.tables.stats);
                }
            }
        }
    }

    /// The capture ends.
    pub(super) fn finish(mut self) {
        self.tcp.finish(self.tables);
        self.quic.finish(self.tables);
        self.tables.stats.add(
            "unused_keys",
            self.keys.unused(),
            Severity::Info,
            "sessions in the key logs that no connection of this capture belongs to",
        );
    }
}
