// SPDX-License-Identifier: Apache-2.0
//! The sessions of both transports, by the ids of their sources.

use super::{http2, quic};
use crate::tables::Tables;
use crate::{Direction, Severity};
use std::collections::BTreeMap;

/// Sessions of each transport that are followed at a time.
const MAX_SESSIONS: usize = 1 << 8;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    quic: BTreeMap<i64, quic::Session>,
    http2: BTreeMap<i64, http2::Session>,
}

const TOO_MANY: &str = "too many sessions at a time: the oldest end before they do";

impl Sessions {
    /// The QUIC session `id`; `name` is its connection's, if it is new.
    pub(super) fn quic(
        &mut self,
        id: i64,
        name: impl FnOnce() -> String,
        tables: &mut Tables,
    ) -> &mut quic::Session {
        if self.quic.len() >= MAX_SESSIONS && !self.quic.contains_key(&id) {
            if let Some((_, mut oldest)) = self.quic.pop_first() {
                tables.count("sessions_cut_short", Severity::Notice, TOO_MANY);
                oldest.finish(tables);
            }
        }
        self.quic
            .entry(id)
            .or_insert_with(|| quic::Session::new(name()))
    }

    /// The HTTP/2 session `id`; `name` is its connection's, if it is new.
    pub(super) fn http2(
        &mut self,
        id: i64,
        name: impl FnOnce() -> String,
        tables: &mut Tables,
    ) -> &mut http2::Session {
        if self.http2.len() >= MAX_SESSIONS && !self.http2.contains_key(&id) {
            if let Some((_, mut oldest)) = self.http2.pop_first() {
                tables.count("sessions_cut_short", Severity::Notice, TOO_MANY);
                oldest.finish(tables);
            }
        }
        self.http2
            .entry(id)
            .or_insert_with(|| http2::Session::new(name()))
    }

    pub(super) fn connection(&self, id: i64) -> Option<&str> {
        let quic = self
            .quic
            .get(&id)
            .map(|session| session.connection.as_str());
        quic.or_else(|| {
            self.http2
                .get(&id)
                .map(|session| session.connection.as_str())
        })
    }

    /// Bytes of the body that went one way on a stream: those of its DATA frames.
    pub(super) fn body_bytes(&self, id: i64, stream: u64, direction: Direction) -> Option<u64> {
        let body = |quic: &quic::Session| quic.body_bytes(stream, direction);
        let quic = self.quic.get(&id).and_then(body);
        quic.or_else(|| self.http2.get(&id)?.streams.bytes(stream, direction))
    }

    /// The log ends.
    pub(super) fn finish(&mut self, tables: &mut Tables) {
        for session in self.quic.values_mut() {
            session.finish(tables);
        }
        for session in self.http2.values_mut() {
            session.finish(tables);
        }
    }
}
