// SPDX-License-Identifier: Apache-2.0
//! A transmitter with its queue: the edge of a sender, and the bottleneck itself.

use crate::queue::{Backlog, Occupancy, QueueBound};
use crate::random::StreamKey;
use crate::timeline::Timeline;
use crate::transmitter::{Service, Transmitter};
use crate::units::{Bytes, Nanos};

/// Passage of a packet through a transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The instant at which its last bit left; `None` if the queue was full.
    pub departure: Option<Nanos>,
    /// Occupancy of the queue just before it came.
    pub found: Occupancy,
    /// Time that it took to be sent.
    pub service: Nanos,
}

/// A droptail queue and the transmitter behind it.
///
/// First in, first out, and what has left by the instant of an arrival is taken out before that arrival is judged: so
/// a packet's fate and its departure follow from the arrivals up to its own, and are known when it comes.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    transmitter: Transmitter,
    bounds: Timeline<QueueBound>,
    backlog: Backlog,
}

impl Bottleneck {
    /// `overhead` is added to each packet's size for the time that sending it takes; the queue counts without it.
    #[must_use]
    pub fn new(
        service: Service,
        bounds: Timeline<QueueBound>,
        overhead: Bytes,
        key: &StreamKey,
    ) -> Self {
        Self::before(Transmitter::new(service, overhead, key), bounds)
    }

    /// A queue before a transmitter. What slots behind that hold counts as queued.
    #[must_use]
    pub fn before(transmitter: Transmitter, bounds: Timeline<QueueBound>) -> Self {
        Self {
            transmitter,
            bounds,
            backlog: Backlog::default(),
        }
    }

    /// Gives the queue other bounds from `at` on.
    pub(crate) fn set_bounds(&mut self, at: Nanos, bounds: QueueBound) {
        self.bounds.insert(at, bounds);
    }

    pub(crate) fn transmitter(&mut self) -> &mut Transmitter {
        &mut self.transmitter
    }

    /// A packet comes at `t`, which is never before the one of the last packet.
    pub fn pass(&mut self, t: Nanos, size: Bytes) -> Passage {
        let found = self.backlog.at(t);
        let sending = self.transmitter.plan(t, size);
        let admitted = self.bounds.at(t).admits(found, size, sending.departure - t);
        if admitted {
            self.transmitter.send(sending);
            if sending.departure > t {
                self.backlog.push(sending.departure, size);
            }
        }
        Passage {
            departure: admitted.then_some(sending.departure),
            found,
            service: sending.service,
        }
    }
}
