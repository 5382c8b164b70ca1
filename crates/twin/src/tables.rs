// SPDX-License-Identifier: Apache-2.0
//! Tables as the decoders of a real trial fill them, column by column; what is left out is null.

use std::collections::BTreeMap;

use link_core::Fate;
use serde::Deserialize;
use serde_json::{json, Value};

use crate::way::Way;

/// Amount that the server tells of itself.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Logs {
    /// Nothing: captures alone.
    Captures,
    /// Window, losses and timers; of TCP the kernel's samples.
    #[default]
    State,
    /// Own words on what held it back, besides. TCP's kernel has none but its clocks.
    OwnWord,
}

/// Sources of a trial, as its tables name them.
pub const CLIENT: &str = "raw/client.pcapng";
/// The server's capture.
pub const SERVER: &str = "raw/server.pcapng";
/// The log of the link.
pub const LINK: &str = "raw/link.qplog";

/// Tables by name, as columns by name.
#[derive(Default)]
pub struct Tables(BTreeMap<&'static str, BTreeMap<String, Vec<Value>>>);

impl Tables {
    /// Adds a row; all rows of a table have the same columns.
    pub fn add(&mut self, table: &'static str, row: Value) {
        let Value::Object(row) = row else {
            unreachable!("a row is an object");
        };
        let columns = self.0.entry(table).or_default();
        for (name, value) in row {
            columns.entry(name).or_default().push(value);
        }
    }

    /// All of it as JSON.
    #[must_use]
    pub fn json(self) -> Value {
        json!(self.0)
    }

    /// The file that rows come from.
    pub fn source(&mut self, source: &str, format: &str, vantage: Option<&str>) {
        let row = json!({
            "source": source, "format": format, "vantage": vantage, "clock": "monotonic",
            "resolution_ns": 1, "placed_by": "same_clock", "offset_ns": 0, "uncertainty_ns": 0,
        });
        self.add("sources", row);
    }

    /// The log of one direction of the link.
    pub fn link<P>(&mut self, direction: &str, way: &Way<P>) {
        let own = way.log.iter().map(|each| (each, 1));
        let mut all: Vec<_> = own.chain(way.others.iter().map(|each| (each, 2))).collect();
        all.sort_unstable_by_key(|(each, _)| each.verdict.index);
        for (each, flow) in all {
            let (action, reason) = match each.verdict.fate {
                Fate::Delivered(_) => ("delivered", None),
                Fate::Dropped(reason) => ("dropped", Some(reason.name())),
                Fate::Waiting => ("inside_at_end", None),
            };
            let row = json!({
                "source": LINK, "direction": direction, "index": each.verdict.index,
                "arrival_ns": each.arrival_ns, "due_ns": each.due_ns(), "lateness_ns": 0,
                "size_bytes": each.size, "queue_bytes": each.verdict.found.bytes.0,
                "queue_packets": each.verdict.found.packets, "service_ns": each.verdict.service.0,
                "left_ns": each.left_ns, "flow": flow, "source_burst": each.verdict.index,
                "action": action, "reason": reason, "duplicate": false, "corrupted": false,
                "reordered": each.reordered(), "ecn_ce": false, "oversized": false, "uncertainty_ns": 0,
            });
            self.add("link_packets", row);
        }
    }
}

/// One end of a packet's way, as a capture has it.
pub struct End<'a> {
    /// The capture.
    pub source: &'static str,
    /// `client` or `server`.
    pub vantage: &'static str,
    /// True if the packet is seen as it is sent.
    pub sends: bool,
    /// `up` or `down`.
    pub direction: &'a str,
}

/// Instants at which an end sees the packets of a direction, by index; those that were lost are seen by their sender.
pub fn seen<'a, P>(way: &'a Way<P>, end: &'a End<'a>) -> impl Iterator<Item = (u64, usize)> + 'a {
    way.log.iter().enumerate().filter_map(|(index, each)| {
        let at_ns = if end.sends {
            Some(each.arrival_ns)
        } else {
            each.due_ns()
        };
        Some((at_ns?, index))
    })
}

/// Both ends of both directions.
#[must_use]
pub fn ends() -> [End<'static>; 4] {
    let end = |source, vantage, sends, direction| End {
        source,
        vantage,
        sends,
        direction,
    };
    [
        end(CLIENT, "client", true, "up"),
        end(SERVER, "server", false, "up"),
        end(CLIENT, "client", false, "down"),
        end(SERVER, "server", true, "down"),
    ]
}

/// Mark of a packet that the link lost, as captures have it.
#[must_use]
pub fn dropped<P>(way: &Way<P>, index: usize) -> Option<&'static str> {
    match way.log[index].verdict.fate {
        Fate::Dropped(reason) => Some(reason.name()),
        _ => None,
    }
}
