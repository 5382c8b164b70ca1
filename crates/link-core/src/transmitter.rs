// SPDX-License-Identifier: Apache-2.0
//! What sends packets one after another: at a rate, or at the instants of a trace.

use crate::rate::RateClock;
use crate::timeline::Timeline;
use crate::trace::{Trace, TraceClock};
use crate::units::{BitRate, Bytes, Nanos};

/// How fast packets leave.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// At a rate; `None` takes no time.
    Rate(Timeline<Option<BitRate>>),
    /// At the instants of a trace.
    Trace(Trace),
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    Rate(RateClock),
    Trace(TraceClock),
}

/// The sending of one packet, which takes place only if it is handed to [`Transmitter::send`].
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    clock: Clock,
    /// When the last bit leaves.
    pub departure: Nanos,
    /// How long it takes.
    pub service: Nanos,
}

/// A transmitter.
#[derive(Clone, Debug)]
pub struct Transmitter {
    service: Service,
    clock: Clock,
    overhead: Bytes,
}

impl Transmitter {
    /// `overhead` is added to each packet's size for the time that sending it takes.
    #[must_use]
    pub fn new(service: Service, overhead: Bytes) -> Self {
        let clock = match service {
            Service::Rate(_) => Clock::Rate(RateClock::default()),
            Service::Trace(_) => Clock::Trace(TraceClock::default()),
        };
        Self {
            service,
            clock,
            overhead,
        }
    }

    /// When the last packet has left.
    #[must_use]
    pub fn free(&self) -> Nanos {
        self.clock.free()
    }

    /// How a packet that is ready at `ready` would be sent next.
    #[must_use]
    pub fn plan(&self, ready: Nanos, size: Bytes) -> Sending {
        let framed = Bytes(size.0 + self.overhead.0);
        let clock = match (&self.service, self.clock) {
            (Service::Rate(rates), Clock::Rate(clock)) => {
                Clock::Rate(clock.after(rates, ready, framed))
            }
            (Service::Trace(trace), Clock::Trace(clock)) => {
                Clock::Trace(clock.after(trace, ready, framed))
            }
            _ => unreachable!("the clock is of the service's kind"),
        };
        Sending {
            clock,
            departure: clock.free(),
            service: clock.free() - ready.max(self.free()),
        }
    }

    /// Sends what was planned last.
    pub fn send(&mut self, sending: Sending) {
        self.clock = sending.clock;
    }
}

impl Clock {
    fn free(self) -> Nanos {
        match self {
            Self::Rate(clock) => clock.free(),
            Self::Trace(clock) => clock.free(),
        }
    }
}
