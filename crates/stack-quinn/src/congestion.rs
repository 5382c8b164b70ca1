// SPDX-License-Identifier: Apache-2.0
//! Congestion controllers of quinn, with the initial and the largest window that a job may set.

use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use quinn_proto::RttEstimator;

use crate::knobs::{CongestionControl, FIRST_PAYLOAD};

/// Methods of a `Controller` that the one below it has: those named, and those that every controller here leaves to it.
macro_rules! forwarded {
    ($($name:ident),*) => {
        $(crate::congestion::forwarded!(@ $name);)*

        fn on_mtu_update(&mut self, new_mtu: u16) {
            self.inner.on_mtu_update(new_mtu);
        }

        fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
            self
        }
    };
    (@ on_ack) => {
        fn on_ack(
            &mut self,
            now: std::time::Instant,
            sent: std::time::Instant,
            bytes: u64,
            app_limited: bool,
            rtt: &quinn_proto::RttEstimator,
        ) {
            self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        }
    };
    (@ on_sent) => {
        fn on_sent(&mut self, now: std::time::Instant, bytes: u64, last_packet_number: u64) {
            self.inner.on_sent(now, bytes, last_packet_number);
        }
    };
    (@ on_congestion_event) => {
        fn on_congestion_event(
            &mut self,
            now: std::time::Instant,
            sent: std::time::Instant,
            persistent: bool,
            lost_bytes: u64,
        ) {
            self.inner
                .on_congestion_event(now, sent, persistent, lost_bytes);
        }
    };
    (@ on_end_acks) => {
        fn on_end_acks(
            &mut self,
            now: std::time::Instant,
            in_flight: u64,
            app_limited: bool,
            largest: Option<u64>,
        ) {
            self.inner.on_end_acks(now, in_flight, app_limited, largest);
        }
    };
    (@ window) => {
        fn window(&self) -> u64 {
            self.inner.window()
        }
    };
    (@ initial_window) => {
        fn initial_window(&self) -> u64 {
            self.inner.initial_window()
        }
    };
    (@ metrics) => {
        fn metrics(&self) -> quinn::congestion::ControllerMetrics {
            self.inner.metrics()
        }
    };
}
pub(crate) use forwarded;

pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// A controller with an initial window and, if there is one, a largest window, in bytes.
pub fn factory(
    algorithm: CongestionControl,
    initial_window: Option<u64>,
    max_window: Option<u64>,
) -> Factory {
    let Some(max_window) = max_window else {
        return uncapped(algorithm, initial_window);
    };
    let initial_window =
        initial_window.unwrap_or(initial_packets(algorithm) * u64::from(FIRST_PAYLOAD));
    let inner = uncapped(algorithm, Some(initial_window.min(max_window)));
    Arc::new(CappedConfig {
        inner,
        max_window,
        loss_based: algorithm != CongestionControl::Bbr,
    })
}

/// quinn's own.
fn initial_packets(algorithm: CongestionControl) -> u64 {
    match algorithm {
        CongestionControl::Reno | CongestionControl::Cubic => 10,
        CongestionControl::Bbr => 200,
    }
}

fn uncapped(algorithm: CongestionControl, initial_window: Option<u64>) -> Factory {
    macro_rules! configured {
        ($config:ty) => {{
            let mut config = <$config>::default();
            if let Some(bytes) = initial_window {
                config.initial_window(bytes);
            }
            Arc::new(config)
        }};
    }
    match algorithm {
        CongestionControl::Reno => configured!(NewRenoConfig),
        CongestionControl::Cubic => configured!(CubicConfig),
        CongestionControl::Bbr => configured!(BbrConfig),
    }
}

struct CappedConfig {
    inner: Factory,
    max_window: u64,
    loss_based: bool,
}

impl ControllerFactory for CappedConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Capped {
            inner: self.inner.clone().build(now, current_mtu),
            max_window: self.max_window,
            loss_based: self.loss_based,
        })
    }
}

/// A controller whose window never exceeds `max_window`.
struct Capped {
    inner: Box<dyn Controller>,
    max_window: u64,
    /// True if its window grows with each acknowledgement. Such a controller is not told of acknowledgements while it
    /// is at its largest window: it would go on growing, and a loss would then halve a window that was never in use.
    /// BBR measures with every acknowledgement and must hear of all.
    loss_based: bool,
}

impl Controller for Capped {
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if !self.loss_based || self.inner.window() < self.max_window {
            self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        }
    }

    fn window(&self) -> u64 {
        self.inner.window().min(self.max_window)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.inner.metrics();
        metrics.congestion_window = self.window();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            ..*self
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window().min(self.max_window)
    }

    forwarded!(on_sent, on_end_acks, on_congestion_event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MTU: u16 = 1200;

    #[test]
    fn quinns_own_initial_windows_are_as_written_here() {
        for algorithm in [
            CongestionControl::Reno,
            CongestionControl::Cubic,
            CongestionControl::Bbr,
        ] {
            let built = factory(algorithm, None, None).build(Instant::now(), MTU);
            assert_eq!(
                built.window(),
                initial_packets(algorithm) * u64::from(FIRST_PAYLOAD),
                "{algorithm:?}"
            );
        }
    }

    #[test]
    fn the_initial_window_is_the_one_asked_for() {
        for algorithm in [
            CongestionControl::Reno,
            CongestionControl::Cubic,
            CongestionControl::Bbr,
        ] {
            let built = factory(algorithm, Some(38_400), None).build(Instant::now(), MTU);
            assert_eq!(built.window(), 38_400, "{algorithm:?}");
            let capped = factory(algorithm, Some(38_400), Some(12_000)).build(Instant::now(), MTU);
            assert_eq!(
                (capped.window(), capped.initial_window()),
                (12_000, 12_000),
                "{algorithm:?}"
            );
        }
    }

    #[test]
    fn a_loss_halves_the_largest_window_and_not_a_larger_initial_one() {
        let start = Instant::now();
        let mut reno =
            factory(CongestionControl::Reno, Some(100_000), Some(50_000)).build(start, MTU);
        let later = start + Duration::from_millis(10);
        reno.on_congestion_event(later, later, false, 1200);
        assert_eq!(reno.clone_box().window(), 25_000);
        assert_eq!(reno.metrics().congestion_window, 25_000);
    }
}
