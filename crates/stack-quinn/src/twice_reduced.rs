// SPDX-License-Identifier: Apache-2.0
//! A fault on purpose: the congestion controller applies each reduction of its window twice, in one step.
//!
//! CUBIC leaves 0.7 of the window after a loss (RFC 9438 section 4.6). An implementation that lowers `W_max` first (fast
//! convergence, section 4.7) and then multiplies that once more, or that reduces on two paths of its code, leaves less.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion::{Controller, ControllerFactory};

use crate::congestion::{forwarded, Factory};

/// Controllers like those of `inner`, which hear of each loss that reduces their window once more.
pub fn twice(inner: Factory) -> Factory {
    Arc::new(TwiceConfig(inner))
}

struct TwiceConfig(Factory);

impl ControllerFactory for TwiceConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Twice {
            inner: self.0.clone().build(now, current_mtu),
        })
    }
}

struct Twice {
    inner: Box<dyn Controller>,
}

impl Controller for Twice {
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        lost_bytes: u64,
    ) {
        let before = self.inner.window();
        self.inner
            .on_congestion_event(now, sent, persistent, lost_bytes);
        if self.inner.window() < before && !persistent {
            // A packet counts as one of a new episode if it was sent after the last reduction.
            let later = now + Duration::from_nanos(1);
            self.inner
                .on_congestion_event(later, later, false, lost_bytes);
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
        })
    }

    forwarded!(
        on_ack,
        on_sent,
        on_end_acks,
        window,
        metrics,
        initial_window
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion;
    use crate::knobs::CongestionControl;

    #[test]
    fn one_loss_reduces_the_window_by_the_factor_squared_and_the_next_of_its_flight_by_nothing() {
        let start = Instant::now();
        let cubic = congestion::factory(CongestionControl::Cubic, Some(100_000), None);
        let mut wrong = twice(cubic).build(start, 1200);
        for after_ms in [20, 21] {
            let now = start + Duration::from_millis(after_ms);
            let sent = start + Duration::from_millis(1);
            wrong.on_congestion_event(now, sent, false, 1200);
            assert!((48_990..=49_010).contains(&wrong.window()));
        }
    }
}
