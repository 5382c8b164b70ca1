// SPDX-License-Identifier: Apache-2.0
//! A histogram of lengths of time with a relative error of at most 1/64.

const SUB_BITS: u32 = 6;
const SUB_BUCKETS: usize = 1 << SUB_BITS;

/// Counts in buckets that grow with the value: exact below 64 ns, 64 buckets for each doubling above.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; SUB_BUCKETS * 60],
            count: 0,
            max: 0,
        }
    }
}

impl Histogram {
    /// Counts one value.
    pub fn add(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.count += 1;
        self.max = self.max.max(value);
    }

    /// Counts what another has counted.
    pub fn add_all(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest value, exactly.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The value that at least `per_mille` of the values do not exceed (nearest rank; the bucket's upper end), zero
    /// if there are none.
    #[must_use]
    pub fn quantile(&self, per_mille: u64) -> u64 {
        let rank = (self.count * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (number, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return upper_end(number).min(self.max);
            }
        }
        0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a bucket number is below 3840"
)]
fn bucket(value: u64) -> usize {
    let shift = (64 - value.leading_zeros()).saturating_sub(SUB_BITS + 1);
    shift as usize * SUB_BUCKETS + (value >> shift) as usize
}

fn upper_end(bucket: usize) -> u64 {
    let shift = (bucket / SUB_BUCKETS).saturating_sub(1);
    let within = bucket - shift * SUB_BUCKETS;
    ((within as u64 + 1) << shift) - 1
}
