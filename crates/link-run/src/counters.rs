// SPDX-License-Identifier: Apache-2.0
//! Counts of the packets of one direction, by what happened to them.

use link_core::{Answer, DropReason};
use serde_json::{json, Map, Value};

use crate::config::kind_name;

/// Counts of one direction: `packets_in + duplicated = delivered + dropped + inside_at_end`.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Packets of the workload that were read.
    pub packets_in: u64,
    /// Bytes of the workload's packets that were read.
    pub bytes_in: u64,
    /// Packets written to the far end, copies included.
    pub delivered: u64,
    /// Bytes written to the far end, copies included.
    pub delivered_bytes: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Packets and copies with a bit turned over.
    pub corrupted: u64,
    /// Packets held back on purpose.
    pub reordered: u64,
    /// Packets marked "congestion experienced".
    pub marked: u64,
    /// Dropped packets by reason.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Still in the link at the end.
    pub inside_at_end: u64,
    /// Passed on outside the model.
    pub outside_model: u64,
    /// Larger than the MTU.
    pub oversized: u64,
    /// Outcomes of the packets that were to be dropped.
    pub dropped_as_asked: Vec<Answer>,
    /// Outcomes of the packets that no loss was to hit.
    pub spared_as_asked: Vec<Answer>,
}

impl Counters {
    /// Counts a dropped packet.
    pub fn drop(&mut self, reason: DropReason) {
        for (each, count) in DropReason::ALL.iter().zip(&mut self.dropped) {
            *count += u64::from(*each == reason);
        }
    }

    /// The direction's part of the summary; reasons that did not occur are left out.
    #[must_use]
    pub fn summary(&self) -> Value {
        let dropped: Map<String, Value> = DropReason::ALL
            .iter()
            .zip(self.dropped)
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| (reason.name().to_owned(), count.into()))
            .collect();
        let mut summary = json!({
            "packets_in": self.packets_in,
            "bytes_in": self.bytes_in,
            "delivered": self.delivered,
            "delivered_bytes": self.delivered_bytes,
            "duplicated": self.duplicated,
            "corrupted": self.corrupted,
            "reordered": self.reordered,
            "marked": self.marked,
            "dropped": dropped,
            "inside_at_end": self.inside_at_end,
            "outside_model": self.outside_model,
            "oversized": self.oversized,
        });
        for (name, answers) in [
            ("drop", &self.dropped_as_asked),
            ("spare", &self.spared_as_asked),
        ] {
            if !answers.is_empty() {
                summary[name] = of_addresses(answers);
            }
        }
        summary
    }
}

/// Numbers of packets that were addressed, that came, and whose outcome was changed, and those that
/// did not come.
fn of_addresses(answers: &[Answer]) -> Value {
    let count = |of: fn(&&Answer) -> bool| answers.iter().filter(of).count();
    let missed: Vec<Value> = answers
        .iter()
        .filter(|answer| answer.packet.is_none())
        .map(
            |answer| json!({"of": kind_name(answer.address.kind), "number": answer.address.number}),
        )
        .collect();
    json!({
        "asked": answers.len(),
        "met": count(|answer| answer.packet.is_some()),
        "mattered": count(|answer| answer.mattered),
        "missed": missed,
    })
}
