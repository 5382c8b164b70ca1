// SPDX-License-Identifier: Apache-2.0
//! Typed quantities: instants and lengths of time, rates, sizes.

use std::ops::{Add, AddAssign, Sub};

/// Nanoseconds: a length of time, or an instant counted from the model's t = 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The model's t = 0, or no time at all.
    pub const ZERO: Self = Self(0);
    /// An instant that is not reached, such as the departure from a link that stands still for good.
    pub const NEVER: Self = Self(u64::MAX);

    /// The length of time since `earlier`, zero if that lies in the future.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    /// Saturates at [`Nanos::NEVER`].
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    /// Saturates at zero.
    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

/// A rate in bit/s. Zero is a link that stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(pub u64);

/// A size in bytes of IP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);
