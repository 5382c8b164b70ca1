// SPDX-License-Identifier: Apache-2.0
//! A transmitter with its queue: the edge of a sender, and the bottleneck itself.

use crate::queue::{Backlog, Occupancy, QueueBound};
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

/// What happened to a packet at a transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When its last bit left; `None` if the queue was full.
    pub departure: Option<Nanos>,
    /// What stood in the queue just before it came.
    pub found: Occupancy,
    /// How long it was being sent.
    pub service: Nanos,
}

/// A droptail queue and the transmitter behind it.
///
/// First in, first out, and what has left by the instant of an arrival is taken out before that arrival is judged: so
/// a packet's fate and its departure follow from the arrivals up to its own, and are known when it comes.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    service: Service,
    clock: Clock,
    bounds: Timeline<QueueBound>,
    backlog: Backlog,
    overhead: Bytes,
}

impl Bottleneck {
    /// `overhead` is added to each packet's size for the time that sending it takes; the queue counts without it.
    #[must_use]
    pub fn new(service: Service, bounds: Timeline<QueueBound>, overhead: Bytes) -> Self {
        let clock = match service {
            Service::Rate(_) => Clock::Rate(RateClock::default()),
            Service::Trace(_) => Clock::Trace(TraceClock::default()),
        };
        Self {
            service,
            clock,
            bounds,
            backlog: Backlog::default(),
            overhead,
        }
    }

    /// A packet comes at `t`, which is never before the one of the last packet.
    pub fn pass(&mut self, t: Nanos, size: Bytes) -> Passage {
        let found = self.backlog.at(t);
        let framed = Bytes(size.0 + self.overhead.0);
        let (clock, free_before) = match (&self.service, self.clock) {
            (Service::Rate(rates), Clock::Rate(clock)) => {
                (Clock::Rate(clock.after(rates, t, framed)), clock.free())
            }
            (Service::Trace(trace), Clock::Trace(clock)) => {
                (Clock::Trace(clock.after(trace, t, framed)), clock.free())
            }
            _ => unreachable!("the clock is of the service's kind"),
        };
        let departure = match clock {
            Clock::Rate(clock) => clock.free(),
            Clock::Trace(clock) => clock.free(),
        };
        let service = departure - t.max(free_before);
        if !self.bounds.at(t).admits(found, size, departure - t) {
            return Passage {
                departure: None,
                found,
                service,
            };
        }
        self.clock = clock;
        if departure > t {
            self.backlog.push(departure, size);
        }
        Passage {
            departure: Some(departure),
            found,
            service,
        }
    }
}
