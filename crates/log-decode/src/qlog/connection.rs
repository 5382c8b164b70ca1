// SPDX-License-Identifier: Apache-2.0
//! State that is kept of each connection of a trace while its events are read.

use super::handshake::Handshake;
use super::http::Http;
use super::losses::{Losses, Who};
use super::streams::Streams;
use crate::tables::Tables;
use crate::Severity;
use std::collections::HashMap;

/// Connections followed at a time.
const MAX_CONNECTIONS: usize = 64;

/// One connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    pub name: String,
    pub losses: Losses,
    pub streams: Streams,
    pub handshake: Handshake,
    pub http: Http,
    pub ack_exponents: AckExponents,
    last_used: u64,
}

/// The exponents of both ends' delays of acknowledgments (RFC 9000 section 18.2), by the direction of these.
#[derive(Debug)]
pub(super) struct AckExponents {
    up: u32,
    down: u32,
}

impl Default for AckExponents {
    fn default() -> Self {
        Self { up: 3, down: 3 }
    }
}

impl AckExponents {
    /// Takes what an end announces; what is larger than 20 is invalid.
    pub(super) fn announce(&mut self, direction: Option<&str>, exponent: u64) {
        let Some(exponent) = u32::try_from(exponent).ok().filter(|&each| each <= 20) else {
            return;
        };
        match direction {
            Some("up") => self.up = exponent,
            Some("down") => self.down = exponent,
            _ => {}
        }
    }

    /// Microseconds of one unit of the field.
    pub(super) fn unit_us(&self, direction: Option<&str>) -> f64 {
        let exponent = match direction {
            Some("up") => self.up,
            Some("down") => self.down,
            _ => 3,
        };
        f64::from(1 << exponent)
    }
}

impl Connection {
    fn finish(&mut self, ends: Ends, tables: &mut Tables) {
        let who = ends.of(&self.name);
        self.handshake.finish(who, tables);
        self.losses.finish(who, tables);
        self.http.finish(&self.streams, who, tables);
        self.streams.finish(who, tables);
    }
}

/// The end that logs, and so the way that is out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    pub vantage: Option<&'static str>,
    pub outbound: Option<&'static str>,
}

impl Ends {
    pub(super) fn of(self, connection: &str) -> Who<'_> {
        Who {
            vantage: self.vantage,
            connection,
            outbound: self.outbound,
            inbound: match self.outbound {
                Some("up") => Some("down"),
                Some("down") => Some("up"),
                _ => None,
            },
        }
    }
}

/// The connections of one trace; the one of the latest event stands ready.
#[derive(Debug, Default)]
pub(super) struct Connections {
    list: Vec<Connection>,
    by_name: HashMap<String, usize>,
    current: usize,
    used: u64,
}

impl Connections {
    /// The connection of an event that names none; `name` is the trace's.
    #[inline]
    pub(super) fn select(
        &mut self,
        name: &str,
        ends: Ends,
        tables: &mut Tables,
    ) -> &mut Connection {
        if self
            .list
            .get(self.current)
            .is_none_or(|connection| connection.name != name)
        {
            self.current = self.find(name, ends, tables);
        }
        &mut self.list[self.current]
    }

    #[cold]
    fn find(&mut self, name: &str, ends: Ends, tables: &mut Tables) -> usize {
        self.used += 1;
        let at = match self.by_name.get(name) {
            Some(&at) => at,
            None if self.list.len() < MAX_CONNECTIONS => {
                self.list.push(Connection::default());
                self.list.len() - 1
            }
            None => {
                tables.count(
                    "connections_split",
                    Severity::Notice,
                    "more connections than can be followed at a time: one that goes on has its streams in several rows",
                );
                let oldest = self
                    .list
                    .iter()
                    .enumerate()
                    .min_by_key(|(_, each)| each.last_used);
                let at = oldest.map_or(0, |(at, _)| at);
                self.list[at].finish(ends, tables);
                self.by_name.remove(&self.list[at].name);
                self.list[at] = Connection::default();
                at
            }
        };
        let connection = &mut self.list[at];
        if connection.name != name {
            name.clone_into(&mut connection.name);
            self.by_name.insert(name.to_owned(), at);
        }
        connection.last_used = self.used;
        at
    }

    pub(super) fn finish(&mut self, ends: Ends, tables: &mut Tables) {
        for mut connection in self.list.drain(..) {
            connection.finish(ends, tables);
        }
        self.by_name.clear();
        self.current = 0;
    }
}
