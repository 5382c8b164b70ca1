// SPDX-License-Identifier: Apache-2.0
//! Loss that is correlated from packet to packet: each one has, by chance, the fate of the one before.

use super::key::Draw;
use crate::random::{Chance, Stream, StreamKey};

#[derive(Clone, Debug)]
pub(super) struct State {
    chance: Chance,
    repeat: Chance,
    /// The last draw, and whether it was a loss.
    last: Option<(u64, bool)>,
    losses: Stream,
    repeats: Stream,
}

impl State {
    pub(super) fn new(chance: Chance, repeat: Chance, key: &StreamKey, class: &str) -> Self {
        Self {
            chance,
            repeat,
            last: None,
            losses: key.stream(&format!("loss{class}")),
            repeats: key.stream(&format!("loss{class}-repeat")),
        }
    }

    /// Takes a step for each packet, or for each draw that packets share, those that no packet needs included.
    pub(super) fn loses(&mut self, draw: Draw) -> bool {
        let (mut next, mut lost) = match self.last {
            None => (draw.number, None),
            Some((number, lost)) if draw.shared => (number + 1, Some(lost)),
            Some((_, lost)) => (draw.number, Some(lost)),
        };
        while next <= draw.number {
            lost = Some(match lost {
                Some(before) if self.repeat.hit(self.repeats.draw(next)) => before,
                _ => self.chance.hit(self.losses.draw(next)),
            });
            next += 1;
        }
        let lost = lost.unwrap_or(false);
        self.last = Some((draw.number, lost));
        lost
    }
}
