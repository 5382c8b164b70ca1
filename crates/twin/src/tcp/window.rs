// SPDX-License-Identifier: Apache-2.0
//! The congestion window in segments: Reno (RFC 5681) and CUBIC (RFC 9438).

use crate::case::{Case, Control};
use crate::state::Tightened;

const LEAST: u64 = 2;
/// No window that anybody fills.
const UNLIMITED: u64 = 1 << 30;
/// CUBIC's constants C and β (RFC 9438 sections 4.1.2 and 4.6).
const C: f64 = 0.4;
const BETA: f64 = 0.7;

/// The window and its threshold.
pub struct Window {
    control: Control,
    /// Segments that may be on their way.
    pub segments: u64,
    bound: u64,
    /// Window that it begins with again after an idle time; `None` where it stays as it is.
    restart: Option<u64>,
    /// Slow start ends here; `None` before anything has set it.
    pub threshold: Option<u64>,
    /// Event that last tightened it.
    pub tightened: Tightened,
    /// Segments acknowledged towards the next step of congestion avoidance.
    counted: u64,
    epoch_ns: Option<u64>,
    largest: f64,
}

impl Window {
    /// The window of a new connection.
    pub fn new(case: &Case) -> Self {
        let (control, initial, threshold) = (case.control, case.initial_window, case.threshold);
        let bound = case.largest_window.unwrap_or(UNLIMITED);
        let unlimited = control == Control::Unlimited;
        let exited = !unlimited && threshold.is_some_and(|threshold| initial >= threshold);
        Self {
            control,
            segments: if unlimited {
                UNLIMITED
            } else {
                initial.min(bound)
            },
            bound,
            restart: case.restarts_after_idle.then_some(initial),
            threshold: if unlimited { None } else { threshold },
            tightened: if exited {
                Tightened::ByExit
            } else {
                Tightened::Never
            },
            counted: 0,
            epoch_ns: None,
            largest: 0.0,
        }
    }

    /// Grows by what an acknowledgment brings, while the window is what limits (`limited`).
    pub fn grow(&mut self, now: u64, mut acked: u64, limited: bool, rtt_ns: u64) {
        if self.control == Control::Unlimited || !limited {
            return;
        }
        let threshold = self.threshold.unwrap_or(UNLIMITED);
        if self.segments < threshold {
            let step = acked
                .min(threshold - self.segments)
                .min(self.bound.saturating_sub(self.segments));
            self.segments += step;
            acked -= step;
        }
        if self.segments >= threshold && self.tightened == Tightened::Never {
            self.tightened = Tightened::ByExit;
        }
        if acked == 0 || self.segments >= self.bound {
            return;
        }
        self.counted += acked;
        let each = match self.control {
            Control::Cubic => self.cubic(now, rtt_ns),
            _ => self.segments,
        };
        if self.counted >= each {
            self.counted = 0;
            self.segments += 1;
        }
    }

    /// Acknowledged segments for each step of one: by the cubic function, no slower than Reno would be
    /// (RFC 9438 sections 4.2 to 4.4).
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "windows and times are far below 2⁵³, and the quotient lies between 1 and the window"
    )]
    fn cubic(&mut self, now: u64, rtt_ns: u64) -> u64 {
        let window = self.segments as f64;
        let epoch_ns = *self.epoch_ns.get_or_insert(now);
        self.largest = self.largest.max(window);
        let begun = self.largest * BETA;
        let k = ((self.largest - begun) / C).cbrt();
        let after = |ns: u64| (now - epoch_ns + ns) as f64 / 1e9;
        let target = C * (after(rtt_ns) - k).powi(3) + self.largest;
        let rounds = after(0) / (rtt_ns.max(1) as f64 / 1e9);
        let reno = begun + 3.0 * (1.0 - BETA) / (1.0 + BETA) * rounds;
        let target = target.max(reno).clamp(window, 1.5 * window);
        (window / (target - window).max(1e-3)).clamp(1.0, 1e6) as u64
    }

    /// Something is sent after an idle time. Linux halves the window for each retransmission timeout of it and remembers
    /// three quarters as the threshold, where it has one (`tcp_cwnd_restart`).
    pub fn after_idle(&mut self, idle_ns: u64, rto_ns: u64) {
        let Some(restart) = self.restart.filter(|_| idle_ns > rto_ns) else {
            return;
        };
        let least = restart.min(self.segments);
        self.threshold = self.threshold.map(|at| at.max(self.segments * 3 / 4));
        for _ in 0..idle_ns / rto_ns {
            self.segments = (self.segments / 2).max(least);
        }
        (self.counted, self.epoch_ns) = (0, None);
    }

    /// A loss: with `in_flight` segments on their way.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "segments are far below 2⁵³"
    )]
    pub fn reduce(&mut self, in_flight: u64) {
        if self.control == Control::Unlimited {
            return;
        }
        let reduced = match self.control {
            Control::Cubic => (self.segments as f64 * BETA) as u64,
            _ => in_flight / 2,
        };
        self.largest = self.segments as f64;
        self.segments = reduced.max(LEAST);
        self.threshold = Some(self.segments);
        self.tightened = Tightened::ByLoss;
        (self.counted, self.epoch_ns) = (0, None);
    }

    /// A retransmission timeout (RFC 5681 section 3.1, equation 4).
    pub fn collapse(&mut self, in_flight: u64) {
        if self.control == Control::Unlimited {
            return;
        }
        self.reduce(in_flight);
        self.segments = 1;
    }
}
