// SPDX-License-Identifier: Apache-2.0
//! Acknowledgements that a client holds back. quiche acknowledges with the next packet that it is asked for: it is
//! asked only after so many packets, or so long after the first that is unanswered; also where packets are missing.

use std::time::{Duration, Instant};

/// The longest wait where only a number is asked for (RFC 9000 section 18.2).
const DEFAULT_DELAY: Duration = Duration::from_millis(25);

pub struct HeldAcks {
    packets: usize,
    delay: Duration,
    /// Packets received when it was last asked.
    answered: usize,
    first_unanswered: Option<Instant>,
}

impl HeldAcks {
    /// The rule that a job asks for; None where nothing is to be held back.
    pub fn new(packets: Option<usize>, delay: Option<Duration>) -> Option<Self> {
        (packets.is_some() || delay.is_some()).then(|| Self {
            packets: packets.unwrap_or(usize::MAX),
            delay: delay.unwrap_or(DEFAULT_DELAY),
            answered: 0,
            first_unanswered: None,
        })
    }

    /// The longest time that an acknowledgement waits: what the peer must be told.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Note the number of packets received until now.
    pub fn count(&mut self, received: usize, now: Instant) {
        if received > self.answered {
            self.first_unanswered.get_or_insert(now);
        }
    }

    /// True if the library may be asked for a packet.
    pub fn due(&self, received: usize, now: Instant) -> bool {
        received.saturating_sub(self.answered) >= self.packets
            || self.deadline().is_some_and(|deadline| deadline <= now)
    }

    /// Note that the library has been asked.
    pub fn answer(&mut self, received: usize) {
        self.answered = received;
        self.first_unanswered = None;
    }

    /// The latest instant at which the library must be asked.
    pub fn deadline(&self) -> Option<Instant> {
        self.first_unanswered.map(|since| since + self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgements leave by number or by time, whichever comes first, counted from the last one on.
    #[test]
    fn answers_come_after_so_many_packets_or_so_long() {
        let start = Instant::now();
        let later = start + Duration::from_millis(10);
        let mut held = HeldAcks::new(Some(10), Some(Duration::from_millis(10))).expect("asked for");
        assert!(!held.due(0, later), "nothing to answer");
        held.count(4, start);
        assert!(!held.due(4, start));
        assert!(held.due(10, start));
        assert!(held.due(4, later));
        held.answer(4);
        assert_eq!(held.deadline(), None);
        held.count(5, later);
        assert!(!held.due(5, later));
        assert_eq!(held.deadline(), Some(later + Duration::from_millis(10)));
    }

    /// Nothing is held back unless it is asked for.
    #[test]
    fn unasked_the_library_answers_at_once() {
        assert!(HeldAcks::new(None, None).is_none());
        assert_eq!(
            HeldAcks::new(Some(2), None).map(|held| held.delay()),
            Some(DEFAULT_DELAY)
        );
    }
}
