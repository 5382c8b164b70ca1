// SPDX-License-Identifier: Apache-2.0
//! Independent loss.

use crate::random::{Chance, Stream, StreamKey};

#[derive(Clone, Debug)]
pub(super) struct State {
    chance: Chance,
    draws: Stream,
}

impl State {
    pub(super) fn new(chance: Chance, key: &StreamKey, class: &str) -> Self {
        Self {
            chance,
            draws: key.stream(&format!("loss{class}")),
        }
    }

    pub(super) fn loses(&mut self, number: u64) -> bool {
        self.chance.hit(self.draws.draw(number))
    }
}
