// SPDX-License-Identifier: Apache-2.0
//! Sets of sequence numbers, as ranges.

/// More ranges than this mean that nothing good can be said; the lowest is forgotten.
const MAX_RANGES: usize = 1 << 12;

/// Disjoint half-open ranges in order.
#[derive(Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Count of the numbers that it holds.
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Memory taken.
    pub(super) fn held_bytes(&self) -> usize {
        self.0.len() * size_of::<(u64, u64)>()
    }

    /// The end of the highest range.
    pub(super) fn end(&self) -> Option<u64> {
        self.0.last().map(|&(_, end)| end)
    }

    /// Count of the numbers of `start..end` that it holds.
    pub(super) fn covered(&self, start: u64, end: u64) -> u64 {
        let from = self.0.partition_point(|range| range.1 <= start);
        let touched = self.0.iter().skip(from).take_while(|range| range.0 < end);
        touched
            .map(|range| range.1.min(end).saturating_sub(range.0.max(start)))
            .sum()
    }

    pub(super) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let from = self.0.partition_point(|range| range.1 < start);
        let to = self.0.partition_point(|range| range.0 <= end).max(from);
        let merged = self.0.drain(from..to).fold((start, end), |all, range| {
            (all.0.min(range.0), all.1.max(range.1))
        });
        self.0.insert(from, merged);
        if self.0.len() > MAX_RANGES {
            self.0.remove(0);
        }
    }

    pub(super) fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let from = self.0.partition_point(|range| range.1 <= start);
        let to = self.0.partition_point(|range| range.0 < end).max(from);
        let rests: Vec<(u64, u64)> = (self.0.drain(from..to))
            .flat_map(|range| [(range.0, start), (end, range.1)])
            .filter(|rest| rest.0 < rest.1)
            .collect();
        self.0.splice(from..from, rests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges hold what was put in and not taken out, whatever the order.
    #[test]
    fn ranges_are_sets() {
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (20, 25), (5, 10)] {
            ranges.insert(start, end);
        }
        assert_eq!(ranges.0, [(5, 25), (30, 40)]);
        ranges.insert(24, 31);
        assert_eq!(ranges.0, [(5, 40)]);
        ranges.remove(7, 9);
        ranges.remove(30, 50);
        assert_eq!(ranges.0, [(5, 7), (9, 30)]);
        assert_eq!((ranges.covered(6, 10), ranges.covered(7, 9)), (2, 0));
        assert_eq!((ranges.total(), ranges.end()), (23, Some(30)));
        ranges.remove(0, 100);
        assert_eq!(ranges.total(), 0);
    }
}
