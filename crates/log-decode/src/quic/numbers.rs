// SPDX-License-Identifier: Apache-2.0
//! Packet numbers that have been seen in one space and one direction.

const WORDS: usize = 16;
/// Distance back at which a packet that comes twice is noticed.
const WINDOW: u64 = WORDS as u64 * 64;

#[derive(Debug, Default)]
pub(super) struct Numbers {
    largest: Option<u64>,
    /// One bit for each of the last numbers, by its remainder.
    seen: [u64; WORDS],
}

impl Numbers {
    pub(super) fn largest(&self) -> Option<u64> {
        self.largest
    }

    /// Numbers near this one come next: none has been seen.
    pub(super) fn expect(&mut self, number: u64) {
        if self.largest.is_none() {
            self.largest = number.checked_sub(1);
        }
    }

    /// Take a number; false if it has been seen.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        match self.largest {
            Some(largest) if number <= largest => {
                if largest - number >= WINDOW {
                    return true;
                }
            }
            largest => {
                let first = largest.map_or(number, |largest| largest + 1);
                for skipped in first.max(number.saturating_sub(WINDOW - 1))..number {
                    self.set(skipped, false);
                }
                self.set(number, false);
                self.largest = Some(number);
            }
        }
        let known = *self.word(number) & bit(number) != 0;
        self.set(number, true);
        !known
    }

    fn word(&mut self, number: u64) -> &mut u64 {
        &mut self.seen[(number / 64) as usize % WORDS]
    }

    fn set(&mut self, number: u64, seen: bool) {
        if seen {
            *self.word(number) |= bit(number);
        } else {
            *self.word(number) &= !bit(number);
        }
    }
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_comes_again_is_noticed() {
        let mut numbers = Numbers::default();
        for (number, fresh) in [
            (5, true),
            (5, false),
            (3, true),
            (3, false),
            (2000, true),
            (5, true),
            (1500, true),
        ] {
            assert_eq!(numbers.insert(number), fresh, "{number}");
        }
        assert_eq!(
            (
                numbers.insert(1500),
                numbers.insert(2001),
                numbers.largest()
            ),
            (false, true, Some(2001))
        );
        assert!(numbers.insert((1 << 62) - 1));
    }
}
