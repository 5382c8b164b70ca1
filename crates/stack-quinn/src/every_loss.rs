// SPDX-License-Identifier: Apache-2.0
//! A fault on purpose: the congestion controller reduces its window at each loss that it hears of.
//!
//! One loss episode reduces a window once: losses of packets that were sent before the last reduction do not count (RFC
//! 9002 section 7.3.2). quinn tells that by the instant at which the lost packet was sent.

use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};

use crate::congestion::{forwarded, Factory};

/// Controllers like those of `inner`, which take every lost packet for one that was sent just now.
pub fn counted(inner: Factory) -> Factory {
    Arc::new(EveryLossConfig(inner))
}

struct EveryLossConfig(Factory);

impl ControllerFactory for EveryLossConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(EveryLoss {
            inner: self.0.clone().build(now, current_mtu),
        })
    }
}

struct EveryLoss {
    inner: Box<dyn Controller>,
}

impl Controller for EveryLoss {
    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        persistent: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, now, persistent, lost_bytes);
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
    use std::time::Duration;

    #[test]
    fn a_second_loss_of_one_flight_reduces_the_window_again() {
        let start = Instant::now();
        let reno = congestion::factory(CongestionControl::Reno, Some(48_000), None);
        let (mut right, mut wrong) = (
            reno.clone().build(start, 1200),
            counted(reno).build(start, 1200),
        );
        for after_ms in [20, 21] {
            let now = start + Duration::from_millis(after_ms);
            let sent = start + Duration::from_millis(1);
            right.on_congestion_event(now, sent, false, 1200);
            wrong.on_congestion_event(now, sent, false, 1200);
        }
        assert_eq!((right.window(), wrong.window()), (24_000, 12_000));
    }
}
