// SPDX-License-Identifier: Apache-2.0
//! A fault on purpose: timers expire at whole multiples of a step alone, as those of a system with a coarse clock do.
//!
//! quinn has one timer a connection: the packets that its pacer holds back and the probes of its loss detection leave
//! late by up to a step.

use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime};

/// quinn's runtime, with timers of that step where there is one.
pub fn runtime(step: Option<Duration>) -> Arc<dyn Runtime> {
    match step.filter(|step| !step.is_zero()) {
        Some(step) => Arc::new(Coarse {
            step,
            begin: Instant::now(),
        }),
        None => Arc::new(TokioRuntime),
    }
}

#[derive(Debug, Clone, Copy)]
struct Coarse {
    step: Duration,
    /// The instant that steps are counted from.
    begin: Instant,
}

impl Coarse {
    /// The first whole step at or after an instant.
    fn rounded_up(&self, at: Instant) -> Instant {
        let since = at.saturating_duration_since(self.begin).as_nanos();
        let steps = since.div_ceil(self.step.as_nanos());
        u32::try_from(steps)
            .ok()
            .and_then(|steps| self.step.checked_mul(steps))
            .and_then(|length| self.begin.checked_add(length))
            .unwrap_or(at)
    }
}

impl Runtime for Coarse {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(CoarseTimer {
            inner: TokioRuntime.new_timer(self.rounded_up(at)),
            clock: *self,
        })
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        TokioRuntime.spawn(future);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }

    fn now(&self) -> Instant {
        TokioRuntime.now()
    }
}

#[derive(Debug)]
struct CoarseTimer {
    inner: Pin<Box<dyn AsyncTimer>>,
    clock: Coarse,
}

impl AsyncTimer for CoarseTimer {
    fn reset(mut self: Pin<&mut Self>, at: Instant) {
        let at = self.clock.rounded_up(at);
        self.inner.as_mut().reset(at);
    }

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<()> {
        self.inner.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_rounded_up_to_a_whole_step() {
        let begin = Instant::now();
        let clock = Coarse {
            step: Duration::from_millis(16),
            begin,
        };
        for (at_us, rounded_us) in [(0, 0), (1, 16_000), (16_000, 16_000), (16_001, 32_000)] {
            let at = begin + Duration::from_micros(at_us);
            assert_eq!(
                clock.rounded_up(at),
                begin + Duration::from_micros(rounded_us)
            );
        }
    }
}
