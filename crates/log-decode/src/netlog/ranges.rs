// SPDX-License-Identifier: Apache-2.0
//! Bytes of a stream that have been seen.

use std::collections::BTreeMap;

/// Gaps that one stream may have at a time; beyond them it is no longer followed.
const MAX_RANGES: usize = 1 << 10;

/// Disjoint half-open ranges.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    ends: BTreeMap<u64, u64>,
    total: u64,
    lost_track: bool,
}

impl Ranges {
    /// Add a range; true if it moves on the offset up to which nothing is missing.
    pub(super) fn add(&mut self, start: u64, end: u64) -> bool {
        let before = self.reach();
        if start < end && !self.lost_track {
            self.insert(start, end);
            self.lost_track = self.ends.len() > MAX_RANGES;
        }
        self.reach() > before
    }

    fn insert(&mut self, mut start: u64, mut end: u64) {
        if let Some((&known, &known_end)) = self.ends.range(..=start).next_back() {
            if known_end >= start {
                start = known;
                end = end.max(known_end);
            }
        }
        while let Some((&known, &known_end)) = self.ends.range(start..=end).next() {
            self.ends.remove(&known);
            self.total = self.total.saturating_sub(known_end - known);
            end = end.max(known_end);
        }
        self.ends.insert(start, end);
        self.total = self.total.saturating_add(end - start);
    }

    /// The offset up to which nothing is missing.
    pub(super) fn reach(&self) -> u64 {
        self.ends.get(&0).copied().unwrap_or_default()
    }

    /// Bytes seen, each once; `None` if there were too many gaps to say.
    pub(super) fn total(&self) -> Option<u64> {
        (!self.lost_track).then_some(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn bytes_count_once_and_gaps_hold_back_the_reach() {
        let mut seen = Ranges::default();
        assert!(seen.add(0, 10));
        assert!(!seen.add(20, 30));
        assert!(!seen.add(5, 8));
        assert!(seen.add(8, 25));
        assert_eq!((seen.reach(), seen.total()), (30, Some(30)));
    }
}
