// SPDX-License-Identifier: Apache-2.0
//! A sender's retransmission timers, as what it sends after silence shows them: the retransmission timeout (RFC 6298)
//! and the probe timeout of a tail loss probe (RFC 8985 section 7).

/// One timer that has expired.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expired {
    /// `rto` or `pto`.
    pub(super) timer: &'static str,
    /// The instant at which it must have been set.
    pub(super) set_ns: i64,
    /// RTO: how often it has now expired without an acknowledgment of new data.
    pub(super) in_a_row: Option<u32>,
}

/// Instants that the timers of one sender run from.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Something was sent, for the first time or again.
    sent_ns: i64,
    /// The receiver said something, if only that it got a segment out of order.
    heard_ns: i64,
    /// The retransmission timer was started or restarted (RFC 6298 section 5).
    restarted_ns: i64,
    timeouts: u32,
}

impl Timers {
    /// Bytes leave; `first`: nothing before them is unanswered.
    pub(super) fn sent(&mut self, first: bool, time_ns: i64) {
        self.sent_ns = time_ns;
        if first {
            self.restarted_ns = time_ns;
        }
    }

    /// The receiver says something.
    pub(super) fn heard(&mut self, time_ns: i64) {
        self.heard_ns = time_ns;
    }

    /// The receiver acknowledges new bytes.
    pub(super) fn advanced(&mut self, time_ns: i64) {
        (self.heard_ns, self.restarted_ns, self.timeouts) = (time_ns, time_ns, 0);
    }

    /// Time for which neither end has sent what the other had not had before.
    pub(super) fn silence_ns(&self, time_ns: i64) -> i64 {
        time_ns.saturating_sub(self.sent_ns.max(self.heard_ns))
    }

    /// Time for which the retransmission timer has been running.
    pub(super) fn running_ns(&self, time_ns: i64) -> i64 {
        time_ns.saturating_sub(self.restarted_ns)
    }

    /// The probe timeout has expired: it runs from the last transmission or acknowledgment (RFC 8985 section 7.2).
    pub(super) fn probe(&mut self, time_ns: i64) -> Expired {
        let set_ns = self.sent_ns.max(self.heard_ns);
        // The timeout waits again from here on (RFC 8985 section 7.3).
        self.restarted_ns = time_ns;
        Expired {
            timer: "pto",
            set_ns,
            in_a_row: None,
        }
    }

    /// The retransmission timeout has expired, and is started anew.
    pub(super) fn timeout(&mut self, time_ns: i64) -> Expired {
        self.timeouts = self.timeouts.saturating_add(1);
        let set_ns = std::mem::replace(&mut self.restarted_ns, time_ns);
        Expired {
            timer: "rto",
            set_ns,
            in_a_row: Some(self.timeouts),
        }
    }
}
