// SPDX-License-Identifier: Apache-2.0
//! Reproducible randomness: one independent stream per link, direction and stage.

use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Names one direction of one link within a trial; the streams of its stages derive from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamKey {
    seed: u64,
    link: u64,
    direction: u64,
}

impl StreamKey {
    /// `link` and `direction` are names, such as `bottleneck` and `up`.
    #[must_use]
    pub fn new(seed: u64, link: &str, direction: &str) -> Self {
        Self {
            seed,
            link: fnv1a(link),
            direction: fnv1a(direction),
        }
    }

    /// The stream of one stage.
    #[must_use]
    pub fn stream(&self, stage: &str) -> Stream {
        let mut key = [0; 32];
        for (part, value) in
            key.chunks_exact_mut(8)
                .zip([self.seed, self.link, self.direction, fnv1a(stage)])
        {
            part.copy_from_slice(&value.to_le_bytes());
        }
        Stream {
            generator: ChaCha8Rng::from_seed(key),
            next: 0,
        }
    }
}

/// A pseudo-random function of an index: `ChaCha8`, key = seed ‖ FNV-1a(link) ‖ FNV-1a(direction) ‖ FNV-1a(stage),
/// draw `i` = output words `2i` and `2i + 1`.
///
/// A draw depends on nothing but key and index, so no effect can shift the draws of another.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: ChaCha8Rng,
    next: u64,
}

impl Stream {
    /// Draw number `index`: uniform over all of `u64`.
    pub fn draw(&mut self, index: u64) -> u64 {
        if index != self.next {
            self.generator.set_word_pos(u128::from(index) * 2);
        }
        self.next = index + 1;
        self.generator.next_u64()
    }

    /// The draw that follows the last one.
    pub fn draw_next(&mut self) -> u64 {
        self.draw(self.next)
    }
}

/// A draw as a number in [0, 1).
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64 exactly")]
pub fn unit_interval(draw: u64) -> f64 {
    (draw >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// A probability, ready to be compared with a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The probability times 2⁶⁴: a draw below it is a hit.
    threshold: u128,
}

impl Chance {
    /// A probability of 0.
    pub const NEVER: Self = Self { threshold: 0 };

    /// `None` unless 0 ≤ `probability` ≤ 1.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 ≤ p × 2⁶⁴ ≤ 2⁶⁴ fits a u128"
    )]
    pub fn new(probability: f64) -> Option<Self> {
        (0.0..=1.0).contains(&probability).then_some(Self {
            threshold: (probability * 18_446_744_073_709_551_616.0) as u128,
        })
    }

    /// True if this draw is a hit.
    #[must_use]
    pub const fn hit(self, draw: u64) -> bool {
        (draw as u128) < self.threshold
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): spreads names over the key space.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
