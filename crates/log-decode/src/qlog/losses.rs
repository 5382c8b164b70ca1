// SPDX-License-Identifier: Apache-2.0
//! Packets that a sender declared lost, and whether they were acknowledged after all.
//!
//! What is kept: when the latest packets were sent, and the losses themselves until their connection's log ends.

use super::names::space_of;
use crate::tables::{Loss, Tables};
use crate::Severity;
use std::collections::{BTreeMap, VecDeque};

/// Sending times kept in each packet number space: a window of 20 MB.
const MAX_SENT: usize = 1 << 14;
/// Losses kept of one connection.
const MAX_LOSSES: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    time_ns: i64,
    length: Option<u64>,
}

#[derive(Debug)]
struct Declared {
    time_ns: i64,
    packet_type: Option<&'static str>,
    number: u64,
    length: Option<u64>,
    sent_ns: Option<i64>,
    rule: Option<Box<str>>,
    acknowledged_ns: Option<i64>,
}

/// The losses of one connection as one end declares them.
#[derive(Debug, Default)]
pub(super) struct Losses {
    sent: [VecDeque<Sent>; 3],
    declared: Vec<Declared>,
    /// Positions in `declared` of the packets that no acknowledgment has named yet.
    open: [BTreeMap<u64, usize>; 3],
    /// True if the log shows what the peer acknowledges.
    acknowledgments_seen: bool,
}

impl Losses {
    pub(super) fn sent(
        &mut self,
        packet_type: Option<&str>,
        number: u64,
        time_ns: i64,
        length: Option<u64>,
    ) {
        let sent = &mut self.sent[space_of(packet_type)];
        if sent.len() == MAX_SENT {
            sent.pop_front();
        }
        sent.push_back(Sent {
            number,
            time_ns,
            length,
        });
    }

    pub(super) fn lost(
        &mut self,
        (packet_type, number, time_ns, length): (Option<&'static str>, u64, i64, Option<u64>),
        rule: Option<&str>,
        who: Who<'_>,
        tables: &mut Tables,
    ) {
        if self.declared.len() == MAX_LOSSES {
            tables.count(
                "losses_not_followed",
                Severity::Notice,
                "so many packets were lost that late acknowledgments of the earlier ones were not looked for",
            );
            self.finish(who, tables);
        }
        let space = space_of(packet_type);
        let sent = &self.sent[space];
        // Numbers grow; where they do not, the latest packet of that number is meant.
        let sent = match sent.binary_search_by_key(&number, |sent| sent.number) {
            Ok(at) => sent.get(at),
            Err(_) => sent
                .iter()
                .rev()
                .take(64)
                .find(|sent| sent.number == number),
        };
        self.open[space].insert(number, self.declared.len());
        self.declared.push(Declared {
            time_ns,
            packet_type,
            number,
            length: length.or(sent.and_then(|sent| sent.length)),
            sent_ns: sent.map(|sent| sent.time_ns),
            rule: rule.map(Into::into),
            acknowledged_ns: None,
        });
    }

    /// The peer acknowledges the packets from `first` to `last`.
    #[inline]
    pub(super) fn acknowledged(
        &mut self,
        packet_type: Option<&str>,
        first: u64,
        last: u64,
        time_ns: i64,
    ) {
        self.acknowledgments_seen = true;
        let open = &mut self.open[space_of(packet_type)];
        if open.is_empty() {
            return;
        }
        while let Some((&number, &at)) = open.range(first..=last).next() {
            open.remove(&number);
            if let Some(loss) = self.declared.get_mut(at) {
                loss.acknowledged_ns = Some(time_ns);
            }
        }
    }

    /// Write the losses, in the order in which they were declared.
    pub(super) fn finish(&mut self, who: Who<'_>, tables: &mut Tables) {
        for loss in self.declared.drain(..) {
            tables.losses.push(Loss {
                vantage: who.vantage,
                connection: Some(who.connection),
                time_ns: loss.time_ns,
                transport: "quic",
                direction: who.outbound,
                packet_type: loss.packet_type,
                packet_number: Some(loss.number),
                length_bytes: loss.length,
                sent_ns: loss.sent_ns,
                rule: loss.rule.as_deref(),
                acknowledged_ns: loss.acknowledged_ns,
                spurious: self
                    .acknowledgments_seen
                    .then_some(loss.acknowledged_ns.is_some()),
                estimate: false,
            });
        }
        self.open = Default::default();
    }
}

/// The connection and the end that a row is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who<'a> {
    pub vantage: Option<&'static str>,
    pub connection: &'a str,
    /// The direction of what the vantage sends.
    pub outbound: Option<&'static str>,
    pub inbound: Option<&'static str>,
}
