// SPDX-License-Identifier: Apache-2.0
//! Gilbert–Elliott loss with a transition at each packet, or at each draw that packets share (Gilbert 1960, Elliott
//! 1963).

use super::key::Draw;
use crate::random::{Chance, Stream, StreamKey};

/// Chances per packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertElliott {
    /// Good to bad.
    pub p: Chance,
    /// Bad to good.
    pub r: Chance,
    /// Loss in the good state.
    pub loss_good: Chance,
    /// Loss in the bad state.
    pub loss_bad: Chance,
    /// Bad at the first packet: p / (p + r) makes the chain stationary from the start.
    pub bad_at_start: Chance,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    model: GilbertElliott,
    bad: Option<bool>,
    /// The last draw that packets share, and whether it was a loss.
    last: Option<(u64, bool)>,
    start: Stream,
    transitions: Stream,
    losses: Stream,
}

impl State {
    pub(super) fn new(model: GilbertElliott, key: &StreamKey, class: &str) -> Self {
        Self {
            model,
            bad: None,
            last: None,
            start: key.stream(&format!("loss{class}-start")),
            transitions: key.stream(&format!("loss{class}-transition")),
            losses: key.stream(&format!("loss{class}")),
        }
    }

    /// Takes a step of the chain for each draw, where packets share draws, those that no packet
    /// needs included.
    pub(super) fn loses(&mut self, draw: Draw) -> bool {
        if !draw.shared {
            return self.step(draw.number);
        }
        let (mut next, mut lost) = match self.last {
            None => (draw.number, false),
            Some((number, lost)) => (number + 1, lost),
        };
        while next <= draw.number {
            lost = self.step(next);
            next += 1;
        }
        self.last = Some((draw.number, lost));
        lost
    }

    /// The transition is drawn first, then the loss of the state before it.
    fn step(&mut self, index: u64) -> bool {
        let bad = self
            .bad
            .unwrap_or_else(|| self.model.bad_at_start.hit(self.start.draw(index)));
        let (leave, loss) = if bad {
            (self.model.r, self.model.loss_bad)
        } else {
            (self.model.p, self.model.loss_good)
        };
        self.bad = Some(bad != leave.hit(self.transitions.draw(index)));
        loss.hit(self.losses.draw(index))
    }
}
