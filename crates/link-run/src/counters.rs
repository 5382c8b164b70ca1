// SPDX-License-Identifier: Apache-2.0
//! What happened to the packets of one direction.

use link_core::{Answer, DropReason};
use serde_json::{json, Map, Value};

use crate::config::kind_name;

/// The reasons in the order of their numbers in the packet log, which start at 1.
const REASONS: [&str; 8] = [
    "loss",
    "queue",
    "loss_exit",
    "listed",
    "aqm",
    "outage",
    "policed",
    "blocked",
];

/// The number of a reason in the packet log.
#[must_use]
pub fn reason_number(reason: DropReason) -> u8 {
    match reason {
        DropReason::LossAtEntry => 1,
        DropReason::QueueFull => 2,
        DropReason::LossAtExit => 3,
        DropReason::Listed => 4,
        DropReason::Aqm => 5,
        DropReason::Policed => 7,
        DropReason::Blocked => 8,
    }
}

/// The remark on a dropped packet in a capture.
#[must_use]
pub fn reason_comment(reason: DropReason) -> &'static str {
    match reason {
        DropReason::LossAtEntry => "dropped: loss at entry",
        DropReason::QueueFull => "dropped: queue full",
        DropReason::LossAtExit => "dropped: loss at exit",
        DropReason::Listed => "dropped: listed",
        DropReason::Aqm => "dropped: active queue management",
        DropReason::Policed => "dropped: policed",
        DropReason::Blocked => "dropped: blocked",
    }
}

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
    pub dropped: [u64; REASONS.len()],
    /// Still in the link at the end.
    pub inside_at_end: u64,
    /// Passed on outside the model.
    pub outside_model: u64,
    /// Larger than the MTU.
    pub oversized: u64,
    /// What became of the packets that were to be dropped.
    pub dropped_as_asked: Vec<Answer>,
    /// What became of the packets that no loss was to hit.
    pub spared_as_asked: Vec<Answer>,
}

impl Counters {
    /// Counts a dropped packet.
    pub fn drop(&mut self, reason: DropReason) {
        self.dropped[usize::from(reason_number(reason)) - 1] += 1;
    }

    /// The direction's part of the summary; reasons that did not occur are left out.
    #[must_use]
    pub fn summary(&self) -> Value {
        let dropped: Map<String, Value> = REASONS
            .iter()
            .zip(self.dropped)
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| ((*reason).to_owned(), count.into()))
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

/// How many packets were addressed, how many of them came, for how many it changed what became of them, and which did
/// not come.
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
