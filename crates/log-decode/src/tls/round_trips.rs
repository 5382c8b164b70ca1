// SPDX-License-Identifier: Apache-2.0
//! The column `round_trip` of the table `handshake`.

use crate::Direction;

/// Counts the changes of direction from server to client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    count: u32,
    answered: bool,
}

impl RoundTrips {
    /// The round trip of the next message.
    pub(crate) fn of(&mut self, direction: Direction) -> u32 {
        match direction {
            Direction::Down => self.answered = true,
            Direction::Up => self.count += u32::from(std::mem::take(&mut self.answered)),
        }
        self.count
    }
}
