// SPDX-License-Identifier: Apache-2.0
//! Packets that a session sent, until it is known what became of them.

use crate::tables::{Loss, Tables};
use crate::Severity;
use std::collections::BTreeMap;

/// Packets of one session in doubt at a time.
const MAX_PACKETS: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub time_ns: i64,
    pub packet_type: Option<&'static str>,
    pub length: Option<u64>,
}

#[derive(Debug)]
struct Lost {
    time_ns: i64,
    sent: Option<Sent>,
    acknowledged_ns: Option<i64>,
}

/// One session's; Chromium numbers the packets of all spaces in one sequence.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    sent: BTreeMap<u64, Sent>,
    lost: BTreeMap<u64, Lost>,
}

impl Recovery {
    pub(super) fn sent(&mut self, number: u64, sent: Sent) {
        if self.sent.len() >= MAX_PACKETS {
            self.sent.pop_first();
        }
        self.sent.insert(number, sent);
    }

    /// An acknowledgment arrived; what it says of packets that were declared lost is kept.
    pub(super) fn acknowledged(&mut self, ranges: &[(u64, u64)], time_ns: i64) {
        for &(first, last) in ranges.iter().filter(|(first, last)| first <= last) {
            for (_, lost) in self.lost.range_mut(first..=last) {
                lost.acknowledged_ns.get_or_insert(time_ns);
            }
            let known: Vec<u64> = self
                .sent
                .range(first..=last)
                .map(|(&number, _)| number)
                .collect();
            for number in known {
                self.sent.remove(&number);
            }
        }
    }

    /// The session gave a packet up; what it had been when it was sent is returned.
    pub(super) fn lost(
        &mut self,
        connection: &str,
        number: u64,
        time_ns: i64,
        tables: &mut Tables,
    ) -> Option<Sent> {
        if self.lost.len() >= MAX_PACKETS {
            if let Some((oldest, lost)) = self.lost.pop_first() {
                tables.count(
                    "losses_cut_short",
                    Severity::Notice,
                    "a session lost too many packets: whether the first were acknowledged after all is not followed",
                );
                push(connection, oldest, &lost, tables);
            }
        }
        let sent = self.sent.remove(&number);
        self.lost.entry(number).or_insert(Lost {
            time_ns,
            sent,
            acknowledged_ns: None,
        });
        sent
    }

    pub(super) fn finish(&mut self, connection: &str, tables: &mut Tables) {
        for (number, lost) in std::mem::take(&mut self.lost) {
            push(connection, number, &lost, tables);
        }
    }
}

fn push(connection: &str, number: u64, lost: &Lost, tables: &mut Tables) {
    tables.losses.push(Loss {
        vantage: Some("client"),
        connection: Some(connection),
        time_ns: lost.time_ns,
        transport: "quic",
        direction: Some("up"),
        packet_type: lost.sent.and_then(|sent| sent.packet_type),
        packet_number: Some(number),
        length_bytes: lost.sent.and_then(|sent| sent.length),
        sent_ns: lost.sent.map(|sent| sent.time_ns),
        rule: None,
        acknowledged_ns: lost.acknowledged_ns,
        spurious: Some(lost.acknowledged_ns.is_some()),
        estimate: false,
    });
}
