// SPDX-License-Identifier: Apache-2.0
//! Packets on their way, by the instant at which they are due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A packet that is due at an instant; of two at one instant the one that came first goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// `CLOCK_MONOTONIC` nanoseconds.
    pub due_ns: u64,
    number: u64,
    /// Slot in which the packet is kept.
    pub slot: u32,
}

/// Calendar of what is due when. Nearly all packets come in order of their due times and cost no
/// more than a queue; the rest go through a heap.
#[derive(Debug, Default)]
pub struct Calendar {
    in_order: VecDeque<Entry>,
    others: BinaryHeap<Reverse<Entry>>,
    next_number: u64,
}

impl Calendar {
    /// Adds a packet.
    pub fn push(&mut self, due_ns: u64, slot: u32) {
        let entry = Entry {
            due_ns,
            number: self.next_number,
            slot,
        };
        self.next_number += 1;
        if self
            .in_order
            .back()
            .is_none_or(|last| last.due_ns <= due_ns)
        {
            self.in_order.push_back(entry);
        } else {
            self.others.push(Reverse(entry));
        }
    }

    /// The next packet.
    #[must_use]
    pub fn first(&self) -> Option<Entry> {
        match (self.in_order.front(), self.others.peek()) {
            (Some(first), Some(Reverse(other))) => Some(*first.min(other)),
            (first, other) => first.copied().or(other.map(|other| other.0)),
        }
    }

    /// Takes the next packet out.
    pub fn pop(&mut self) -> Option<Entry> {
        let first = self.first()?;
        if self.in_order.front() == Some(&first) {
            self.in_order.pop_front()
        } else {
            self.others.pop().map(|other| other.0)
        }
    }
}
