// SPDX-License-Identifier: Apache-2.0
//! Faults on purpose: a congestion controller that reduces its window by another rule than RFC 9002's and CUBIC's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion::{Controller, ControllerFactory};

use crate::congestion::{forwarded, Factory};

/// A rule that is broken.
#[derive(Clone, Copy)]
pub enum Fault {
    /// Each lost packet reduces the window. One episode of losses reduces it once: those of packets that were sent before
    /// the last reduction do not count (RFC 9002 section 7.3.2). quinn tells that by the instant at which the lost
    /// packet was sent.
    EveryLoss,
    /// Each reduction is applied twice, in one step. CUBIC leaves 0.7 of the window after a loss (RFC 9438 section 4.6).
    /// An implementation that lowers `W_max` first (fast convergence, section 4.7) and then multiplies that once more,
    /// or that reduces on two paths of its code, leaves less.
    Twice,
}

/// Controllers like those of `inner`, with a fault.
pub fn faulty(inner: Factory, fault: Fault) -> Factory {
    Arc::new(FaultyConfig { inner, fault })
}

struct FaultyConfig {
    inner: Factory,
    fault: Fault,
}

impl ControllerFactory for FaultyConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Faulty {
            inner: self.inner.clone().build(now, current_mtu),
            fault: self.fault,
        })
    }
}

struct Faulty {
    inner: Box<dyn Controller>,
    fault: Fault,
}

impl Controller for Faulty {
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        lost_bytes: u64,
    ) {
        match self.fault {
            Fault::EveryLoss => self
                .inner
                .on_congestion_event(now, now, persistent, lost_bytes),
            Fault::Twice => {
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
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            fault: self.fault,
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

    /// Windows after each of two losses of one flight.
    fn windows_after_two_losses(factory: Factory) -> [u64; 2] {
        let start = Instant::now();
        let mut controller = factory.build(start, 1200);
        [20, 21].map(|after_ms| {
            let now = start + Duration::from_millis(after_ms);
            let sent = start + Duration::from_millis(1);
            controller.on_congestion_event(now, sent, false, 1200);
            controller.window()
        })
    }

    #[test]
    fn a_second_loss_of_one_flight_reduces_the_window_again() {
        let reno = congestion::factory(CongestionControl::Reno, Some(48_000), None);
        assert_eq!(windows_after_two_losses(reno.clone()), [24_000, 24_000]);
        assert_eq!(
            windows_after_two_losses(faulty(reno, Fault::EveryLoss)),
            [24_000, 12_000]
        );
    }

    #[test]
    fn one_loss_reduces_the_window_by_the_factor_squared_and_the_next_of_its_flight_by_nothing() {
        let cubic = congestion::factory(CongestionControl::Cubic, Some(100_000), None);
        for window in windows_after_two_losses(faulty(cubic, Fault::Twice)) {
            assert!((48_990..=49_010).contains(&window));
        }
    }
}
