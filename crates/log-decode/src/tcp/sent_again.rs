// SPDX-License-Identifier: Apache-2.0
//! Data that was sent again, until it is known whether that was needed: rows of the table `losses`.

use crate::tables::{Loss, Tables};
use std::collections::VecDeque;

/// Number of them that wait for a verdict at once, and of verdicts that may still be overturned.
const MAX_WAITING: usize = 1 << 10;

/// One segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    pub(super) time_ns: i64,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) length: u64,
    pub(super) sent_ns: Option<i64>,
    pub(super) rule: Option<&'static str>,
    /// The timestamp that it bears itself.
    pub(super) timestamp: Option<u32>,
    pub(super) spurious: Option<bool>,
    pub(super) acknowledged_ns: Option<i64>,
    /// The receiver has said that it got this copy, or one like it, as a second one.
    pub(super) reported: bool,
}

/// All of one direction.
#[derive(Debug, Default)]
pub(super) struct Retransmissions {
    waiting: VecDeque<Retransmission>,
    acknowledged: VecDeque<Retransmission>,
    /// Number of those that wait which are known to have been needless, and wait for an
    /// acknowledgment at most.
    unconfirmed: usize,
}

/// Values that stand in every row of one direction.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) vantage: Option<&'static str>,
    pub(super) connection: &'a str,
    pub(super) direction: &'static str,
}

impl Retransmissions {
    pub(super) fn push(&mut self, again: Retransmission, owner: Owner<'_>, tables: &mut Tables) {
        self.unconfirmed += usize::from(again.spurious == Some(true));
        self.waiting.push_back(again);
        if self.waiting.len() > MAX_WAITING {
            if let Some(oldest) = self.waiting.pop_front() {
                row(&oldest, owner, tables);
            }
        }
    }

    /// Everything below `ack` has arrived; `echo` is the timestamp of what made the receiver say so (RFC 7323 section
    /// 4.3).
    ///
    /// If that is older than the retransmission, the receiver had the original (RFC 3522).
    pub(super) fn acknowledge(
        &mut self,
        ack: u64,
        echo: Option<u32>,
        reports_duplicates: bool,
        time_ns: i64,
        owner: Owner<'_>,
        tables: &mut Tables,
    ) {
        let acknowledged = &mut self.acknowledged;
        self.waiting.retain(|again| {
            if again.end > ack {
                return true;
            }
            let mut again = *again;
            let older = echo
                .zip(again.timestamp)
                .map(|(echo, own)| i32::from_ne_bytes(echo.wrapping_sub(own).to_ne_bytes()) < 0);
            again.spurious = (again.spurious)
                .or(older)
                .or(reports_duplicates.then_some(false));
            if older == Some(true) {
                again.acknowledged_ns = Some(time_ns);
            }
            acknowledged.push_back(again);
            false
        });
        while self.acknowledged.len() > MAX_WAITING {
            if let Some(oldest) = self.acknowledged.pop_front() {
                row(&oldest, owner, tables);
            }
        }
    }

    /// Everything below `ack` is acknowledged by the end that was captured, which got these segments twice.
    pub(super) fn confirm(&mut self, ack: u64, time_ns: i64) {
        if self.unconfirmed == 0 {
            return;
        }
        self.unconfirmed = 0;
        for again in &mut self.waiting {
            if again.spurious == Some(true) && again.acknowledged_ns.is_none() {
                again.acknowledged_ns = (again.end <= ack).then_some(time_ns);
                self.unconfirmed += usize::from(again.end > ack);
            }
        }
    }

    /// The receiver got `start..end` twice (RFC 2883): of what was sent again, the last copy that it has not reported so
    /// far was needless.
    ///
    /// Each report is of one copy more. So the copy that filled the gap stays needed, whatever else tells of the others.
    pub(super) fn duplicate(&mut self, start: u64, end: u64, time_ns: i64) {
        let mut of_this: Vec<(u64, u64)> = Vec::new();
        let all = (self.acknowledged.iter_mut().rev()).chain(self.waiting.iter_mut().rev());
        for again in all.filter(|again| again.start < end && start < again.end && !again.reported) {
            // A report may be of several segments that came together.
            if of_this
                .iter()
                .any(|&(first, last)| again.start < last && first < again.end)
            {
                continue;
            }
            of_this.push((again.start, again.end));
            again.reported = true;
            again.spurious = Some(true);
            again.acknowledged_ns = again.acknowledged_ns.or(Some(time_ns));
        }
    }

    /// The capture or the connection ends.
    pub(super) fn finish(&mut self, owner: Owner<'_>, tables: &mut Tables) {
        let mut rest: Vec<_> = self
            .acknowledged
            .drain(..)
            .chain(self.waiting.drain(..))
            .collect();
        rest.sort_by_key(|again| again.time_ns);
        for again in &rest {
            row(again, owner, tables);
        }
    }
}

fn row(again: &Retransmission, owner: Owner<'_>, tables: &mut Tables) {
    tables.losses.push(Loss {
        vantage: owner.vantage,
        connection: Some(owner.connection),
        time_ns: again.time_ns,
        transport: "tcp",
        direction: Some(owner.direction),
        packet_number: Some(again.start),
        length_bytes: Some(again.length),
        sent_ns: again.sent_ns,
        rule: again.rule,
        acknowledged_ns: again.acknowledged_ns,
        spurious: again.spurious,
        estimate: true,
        ..Loss::default()
    });
}
