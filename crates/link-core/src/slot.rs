// SPDX-License-Identifier: Apache-2.0
//! Slots: packets are held behind the rate, and let out together when a slot opens, as Wi-Fi aggregates and DOCSIS
//! grants do.

use crate::random::Stream;
use crate::timeline::Timeline;
use crate::units::{Bytes, Nanos};

/// Slots that open one after another, and what one lets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Shortest time from one opening to the next; above 0.
    pub least: Nanos,
    /// Longest such time; each time in between is as likely.
    pub most: Nanos,
    /// Most packets that one lets out.
    pub packets: Option<u32>,
    /// Most bytes that one lets out; a single larger packet is let out too.
    pub bytes: Option<Bytes>,
}

impl Slot {
    /// True if a packet of `size` has no room beside what is held.
    fn is_full(&self, packets: u32, bytes: u64, size: Bytes) -> bool {
        self.packets.is_some_and(|most| packets >= most)
            || packets > 0 && self.bytes.is_some_and(|most| bytes + size.0 > most.0)
    }
}

/// Slots over time. Their openings are a function of the stream and of their settings, whatever is sent.
#[derive(Clone, Debug)]
pub struct Slots {
    settings: Timeline<Option<Slot>>,
    draws: Stream,
}

/// Position among the openings, and what is held for the next one.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlotClock {
    /// The span of settings that `opening` belongs to; 0 before the first.
    entered: usize,
    /// Draws taken so far.
    draw: u64,
    opening: Nanos,
    /// The opening that packets are held for, or that let out the last ones.
    held_for: Nanos,
    packets: u32,
    bytes: u64,
    /// The instant up to which no packet may be sent, as the next opening has all that it lets out.
    pub full_until: Nanos,
}

impl Slots {
    /// The slots of one direction; `None` if it never has any.
    #[must_use]
    pub fn new(settings: &Timeline<Option<Slot>>, draws: Stream) -> Option<Self> {
        settings.values().any(Option::is_some).then(|| Self {
            settings: settings.clone(),
            draws,
        })
    }

    /// Sets others from `at` on, or none.
    pub(crate) fn set(&mut self, at: Nanos, slot: Option<Slot>) {
        self.settings.insert(at, slot);
    }

    /// The instant from which on a packet that is ready at `ready` may be sent: while as much is held as the next
    /// opening lets out, that opening.
    #[must_use]
    pub fn may_send(&mut self, clock: SlotClock, ready: Nanos, size: Bytes) -> Nanos {
        let setting = *self.settings.at(ready);
        let full = setting.is_some_and(|slot| slot.is_full(clock.packets, clock.bytes, size));
        if full {
            ready.max(clock.held_for)
        } else {
            ready
        }
    }

    /// The clock after a packet that was sent at `sent`: it leaves at `held_for`.
    #[must_use]
    pub fn hold(&mut self, mut clock: SlotClock, sent: Nanos, size: Bytes) -> (SlotClock, Nanos) {
        let (span, since, setting) = self.settings.entered_at(sent);
        clock.full_until = Nanos::ZERO;
        let Some(slot) = *setting else {
            // What is held already leaves first.
            clock.held_for = clock.held_for.max(sent);
            (clock.packets, clock.bytes) = (0, 0);
            return (clock, clock.held_for);
        };
        if clock.entered != span + 1 {
            clock.entered = span + 1;
            clock.opening = since;
        }
        let earliest = sent.max(clock.held_for);
        self.advance(&mut clock, &slot, earliest);
        if clock.opening == clock.held_for && slot.is_full(clock.packets, clock.bytes, size) {
            let later = clock.held_for + Nanos(1);
            self.advance(&mut clock, &slot, later);
        }
        if clock.opening > clock.held_for {
            (clock.packets, clock.bytes) = (0, 0);
        }
        clock.held_for = clock.opening;
        clock.packets += 1;
        clock.bytes += size.0;
        if slot.is_full(clock.packets, clock.bytes, Bytes(1)) {
            clock.full_until = clock.held_for;
        }
        (clock, clock.held_for)
    }

    /// Moves on to the first opening that is not before `t`.
    fn advance(&mut self, clock: &mut SlotClock, slot: &Slot, t: Nanos) {
        if clock.opening < t && slot.least == slot.most {
            let steps = (t.0 - clock.opening.0).div_ceil(slot.least.0);
            clock.opening += Nanos(steps.saturating_mul(slot.least.0));
        }
        while clock.opening < t {
            let choices = u128::from(slot.most.0 - slot.least.0) + 1;
            let draw = u128::from(self.draws.draw(clock.draw));
            clock.draw += 1;
            clock.opening += Nanos(slot.least.0 + ((draw * choices) >> 64) as u64);
        }
    }
}
