// SPDX-License-Identifier: Apache-2.0
//! One of a thing for each direction.

use crate::Direction;

/// Pair of what bytes up have, and what bytes down have.
#[derive(Debug, Default)]
pub(super) struct Both<T> {
    pub up: T,
    pub down: T,
}

impl<T> Both<T> {
    pub(super) fn of(&self, direction: Direction) -> &T {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }

    pub(super) fn of_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
}
