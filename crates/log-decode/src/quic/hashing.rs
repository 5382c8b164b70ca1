// SPDX-License-Identifier: Apache-2.0
//! Hashes of the short keys that every packet is looked up by.
//!
//! The standard library's hasher would take a fifth of the time that the headers of a capture take. This one multiplies
//! and folds; its seeds are random, so that nobody can make a capture whose keys collide.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A map by short keys.
pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, Seeds>;

#[derive(Clone)]
pub(super) struct Seeds {
    start: u64,
    factor: u64,
}

impl Default for Seeds {
    fn default() -> Self {
        let random = RandomState::new();
        Self {
            start: random.hash_one(0),
            factor: random.hash_one(1) | 1,
        }
    }
}

impl BuildHasher for Seeds {
    type Hasher = Folding;

    #[inline]
    fn build_hasher(&self) -> Folding {
        Folding {
            state: self.start,
            factor: self.factor,
        }
    }
}

pub(super) struct Folding {
    state: u64,
    factor: u64,
}

impl Hasher for Folding {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.state = fold(self.state ^ number, self.factor);
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let number = part.iter().fold(0, |n, &byte| n << 8 | u64::from(byte));
            self.write_u64(number);
        }
    }

    /// Multiplied once, keys at even distances may still lie at even distances.
    #[inline]
    fn finish(&self) -> u64 {
        fold(self.state, self.factor.rotate_left(32))
    }
}

/// Both halves of a product.
#[inline]
fn fold(number: u64, factor: u64) -> u64 {
    let product = u128::from(number) * u128::from(factor);
    let (low, high) = (product & u128::from(u64::MAX), product >> 64);
    u64::try_from(low ^ high).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys at even distances spread over all slots of a small table, by their low and by their high bits, whatever
    /// the seeds.
    #[test]
    fn near_keys_spread() {
        for _ in 0..200 {
            let seeds = Seeds::default();
            for (distance, shift) in [(0, 0), (0, 57), (20, 0), (20, 57), (48, 0), (48, 57)] {
                let mut slots = [0; 128];
                for number in 0..12_800_u64 {
                    let slot = (seeds.hash_one(number << distance) >> shift) % 128;
                    slots[usize::try_from(slot).unwrap()] += 1;
                }
                assert!(
                    slots.iter().all(|&count| (20..500).contains(&count)),
                    "{distance} {shift} {} {}: {slots:?}",
                    seeds.start,
                    seeds.factor
                );
            }
        }
    }

    /// Equal seeds give equal hashes, others another one.
    #[test]
    fn hashes_depend_on_the_seeds() {
        let (seeds, others) = (Seeds::default(), Seeds::default());
        assert_eq!(seeds.hash_one("a key"), seeds.clone().hash_one("a key"));
        assert_ne!(seeds.hash_one("a key"), others.hash_one("a key"));
    }
}
