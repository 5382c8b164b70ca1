// SPDX-License-Identifier: Apache-2.0
//! Transmitter of packets one after another: at a rate, by a bucket of tokens, or at the instants of a trace.

use crate::random::{Stream, StreamKey};
use crate::random_rate::{RandomRate, RandomRates};
use crate::rate::RateClock;
use crate::shaper::{Bucket, ShaperClock};
use crate::slot::{Slot, SlotClock, Slots};
use crate::timeline::Timeline;
use crate::trace::{Trace, TraceClock};
use crate::units::{BitRate, Bytes, Nanos};

/// Rate at which packets leave.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// Packets leave at a rate; `None` takes no time.
    Rate(Timeline<Option<BitRate>>),
    /// Packets leave as tokens of a bucket allow, which fills at a rate.
    Shaped(Timeline<Option<BitRate>>, Bucket),
    /// Packets leave at rates that are drawn by chance, each for a period.
    Random(RandomRate),
    /// Packets leave at the instants of a trace.
    Trace(Trace),
}

impl Service {
    /// The rates, where they are given and not drawn or recorded.
    pub(crate) fn rates(&self) -> Option<&Timeline<Option<BitRate>>> {
        match self {
            Self::Rate(rates) | Self::Shaped(rates, _) => Some(rates),
            Self::Random(_) | Self::Trace(_) => None,
        }
    }
}

/// Pace of a transmitter.
#[derive(Clone, Debug)]
enum Pace {
    Rate(Timeline<Option<BitRate>>),
    Shaped(Timeline<Option<BitRate>>, Bucket),
    Random(Box<RandomRates>),
    Trace(Trace),
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    Rate(RateClock),
    Shaped(ShaperClock),
    Trace(TraceClock),
}

/// The sending of one packet, which takes place only if it is handed to [`Transmitter::send`].
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    clock: Clock,
    slot: SlotClock,
    /// The instant at which the last bit leaves, a slot that it waits for included.
    pub departure: Nanos,
    /// Time that the packet takes to be sent.
    pub service: Nanos,
}

/// A transmitter.
#[derive(Clone, Debug)]
pub struct Transmitter {
    pace: Pace,
    clock: Clock,
    overhead: Bytes,
    slots: Option<Box<Slots>>,
    slot: SlotClock,
    /// Draws of slots that only a change brings.
    slot_draws: Option<Stream>,
}

impl Transmitter {
    /// `overhead` is added to each packet's size for the time that sending it takes; what is drawn by chance comes
    /// from a stream of `key`.
    #[must_use]
    pub fn new(service: Service, overhead: Bytes, key: &StreamKey) -> Self {
        let at_a_rate = Clock::Rate(RateClock::default());
        let (pace, clock) = match service {
            Service::Rate(rates) => (Pace::Rate(rates), at_a_rate),
            Service::Shaped(rates, bucket) => {
                let clock = Clock::Shaped(ShaperClock::new(bucket));
                (Pace::Shaped(rates, bucket), clock)
            }
            Service::Random(range) => {
                let rates = Box::new(RandomRates::new(range, key));
                (Pace::Random(rates), at_a_rate)
            }
            Service::Trace(trace) => (Pace::Trace(trace), Clock::Trace(TraceClock::default())),
        };
        Self {
            pace,
            clock,
            overhead,
            slots: None,
            slot: SlotClock::default(),
            slot_draws: None,
        }
    }

    /// Puts slots behind the transmitter.
    #[must_use]
    pub fn with_slots(mut self, slots: &Timeline<Option<Slot>>, key: &StreamKey) -> Self {
        let draws = key.stream("slot");
        self.slots = Slots::new(slots, draws.clone()).map(Box::new);
        self.slot_draws = Some(draws);
        self
    }

    /// The instant at which the next packet may be sent.
    #[must_use]
    pub fn free(&self) -> Nanos {
        self.clock.free().max(self.slot.full_until)
    }

    /// Sets another rate from `at` on, where packets leave at a rate or a bucket fills at it.
    pub(crate) fn set_rate(&mut self, at: Nanos, rate: Option<BitRate>) {
        match (&mut self.pace, &mut self.clock) {
            (Pace::Rate(rates), Clock::Rate(clock)) => {
                rates.insert(at, rate);
                clock.look_again();
            }
            (Pace::Shaped(rates, _), Clock::Shaped(clock)) => {
                rates.insert(at, rate);
                clock.look_again();
            }
            _ => {}
        }
    }

    /// Sets other slots from `at` on, or none.
    pub(crate) fn set_slot(&mut self, at: Nanos, slot: Option<Slot>) {
        match (&mut self.slots, self.slot_draws.clone()) {
            (Some(slots), _) => slots.set(at, slot),
            (None, Some(draws)) => {
                let settings = Timeline::constant(None).then(at, slot);
                self.slots = Slots::new(&settings, draws).map(Box::new);
            }
            (None, None) => {}
        }
    }

    /// Plans the next sending of a packet that is ready at `ready`.
    #[must_use]
    pub fn plan(&mut self, ready: Nanos, size: Bytes) -> Sending {
        let before = self.clock.free();
        let ready = match &mut self.slots {
            None => ready,
            Some(slots) => slots.may_send(self.slot, ready.max(before), size),
        };
        let framed = Bytes(size.0 + self.overhead.0);
        let clock = match (&mut self.pace, self.clock) {
            (Pace::Rate(rates), Clock::Rate(clock)) => {
                Clock::Rate(clock.after(rates, ready, framed))
            }
            (Pace::Shaped(rates, bucket), Clock::Shaped(clock)) => {
                Clock::Shaped(clock.after(rates, *bucket, ready, framed))
            }
            (Pace::Random(rates), Clock::Rate(clock)) => {
                Clock::Rate(clock.after(rates.as_mut(), ready, framed))
            }
            (Pace::Trace(trace), Clock::Trace(clock)) => {
                Clock::Trace(clock.after(trace, ready, framed))
            }
            _ => unreachable!("the clock is of the pace's kind"),
        };
        let sent = clock.free();
        let (slot, departure) = match &mut self.slots {
            Some(slots) if sent < Nanos::NEVER => slots.hold(self.slot, sent, size),
            _ => (self.slot, sent),
        };
        Sending {
            clock,
            slot,
            departure,
            service: sent - ready.max(before),
        }
    }

    /// Sends what was planned last.
    pub fn send(&mut self, sending: Sending) {
        self.clock = sending.clock;
        self.slot = sending.slot;
    }
}

impl Clock {
    fn free(self) -> Nanos {
        match self {
            Self::Rate(clock) => clock.free(),
            Self::Shaped(clock) => clock.free(),
            Self::Trace(clock) => clock.free(),
        }
    }
}
