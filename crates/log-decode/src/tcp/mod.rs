// SPDX-License-Identifier: Apache-2.0
//! TCP (RFC 9293) in captures: what was sent, acknowledged and sent again, and the bytes in order.

mod first_bytes;
mod flow;
mod options;
mod outstanding;
mod ranges;
mod rows;
mod segment;
mod sent_again;
mod stray;
mod stream;
mod timers;
mod undecided;
mod way;

pub(crate) use options::TcpOptions;
pub(crate) use segment::Segment;

use crate::tables::Tables;
use crate::tls::keylog::KeyLog;
use crate::{End, Severity};
use flow::Flow;
use std::collections::HashMap;
use std::net::SocketAddr;

/// Connections followed in one capture; a hostile one could open them without end.
const MAX_CONNECTIONS: usize = 1 << 16;

/// Most bytes that all connections together may keep of what is unanswered.
const MAX_HELD_BYTES: usize = 1 << 26;

/// Both ends, the lower one first.
type Ends = (SocketAddr, SocketAddr);

/// All connections of one capture.
#[derive(Debug)]
pub(crate) struct Connections {
    keys: KeyLog,
    vantage: Option<End>,
    flows: Vec<Flow>,
    /// Position of the connection between two ends, and how many there have been before it.
    by_ends: HashMap<Ends, (usize, u32)>,
    /// The connection of the last segment: most segments follow one of their own connection.
    last: Option<(Ends, usize)>,
    /// Bytes that all connections keep of what is unanswered.
    held_bytes: usize,
}

impl Connections {
    /// Nothing seen yet of a capture taken at `vantage`.
    pub(crate) fn new(keys: KeyLog, vantage: Option<End>) -> Self {
        Self {
            keys,
            vantage,
            flows: Vec::new(),
            by_ends: HashMap::new(),
            last: None,
            held_bytes: 0,
        }
    }

    /// Take a segment, in the order of the capture.
    pub(crate) fn segment(&mut self, segment: &Segment<'_>, tables: &mut Tables) {
        let ends = if segment.src < segment.dst {
            (segment.src, segment.dst)
        } else {
            (segment.dst, segment.src)
        };
        let known = match self.last {
            Some((last, at)) if last == ends => Some(at),
            _ => self.by_ends.get(&ends).map(|&(at, _)| at),
        };
        let at = match known {
            Some(at) if !(self.flows.get(at)).is_some_and(|flow| flow.is_succeeded_by(segment)) => {
                at
            }
            Some(at) => {
                let Some(slot) = self.by_ends.get_mut(&ends) else {
                    return;
                };
                slot.1 += 1;
                let next = Flow::new(segment, self.vantage, self.keys.clone(), slot.1);
                if let Some(flow) = self.flows.get_mut(at) {
                    self.held_bytes = self.held_bytes.saturating_sub(flow.held_bytes());
                    std::mem::replace(flow, next).finish(tables);
                }
                at
            }
            None => {
                if self.flows.len() >= MAX_CONNECTIONS {
                    tables.count(
                        "too_many_connections",
                        Severity::DataLoss,
                        "segments of TCP connections beyond the first 65,536: cut the capture into parts",
                    );
                    return;
                }
                let at = self.flows.len();
                (self.flows).push(Flow::new(segment, self.vantage, self.keys.clone(), 0));
                self.by_ends.insert(ends, (at, 0));
                at
            }
        };
        self.last = Some((ends, at));
        if let Some(flow) = self.flows.get_mut(at) {
            let before = flow.held_bytes();
            flow.segment(segment, tables);
            self.held_bytes = (self.held_bytes + flow.held_bytes()).saturating_sub(before);
            if self.held_bytes > MAX_HELD_BYTES {
                let before = flow.held_bytes();
                flow.shed(tables);
                self.held_bytes = (self.held_bytes + flow.held_bytes()).saturating_sub(before);
                tables.count(
                    "memory_limit",
                    Severity::DataLoss,
                    "TCP connections wait for too much that is missing: their estimates and contents are incomplete",
                );
            }
        }
    }

    /// The capture ends.
    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        for flow in &mut self.flows {
            flow.finish(tables);
        }
        if !self.flows.is_empty() && self.vantage.is_none() {
            tables.cannot_tell(
                "transport_metrics",
                None,
                "what a TCP sender has in flight can only be estimated where it sends, and it is not known where this was captured",
            );
            tables.cannot_tell(
                "timers",
                None,
                "TCP's can only be inferred where it sends, and it is not known where this was captured",
            );
        } else if !self.flows.is_empty() {
            tables.cannot_tell(
                "timers",
                Some("time_ns"),
                "of TCP's, only those of this end show which expired and made it send something again: neither those that were cancelled nor probes with new data do",
            );
        }
    }
}

#[cfg(test)]
mod tests;
