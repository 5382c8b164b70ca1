// SPDX-License-Identifier: Apache-2.0
//! Gilbert–Elliott loss with a transition at each packet (Gilbert 1960, Elliott 1963).

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
    start: Stream,
    transitions: Stream,
    losses: Stream,
}

impl State {
    pub(super) fn new(model: GilbertElliott, key: &StreamKey) -> Self {
        Self {
            model,
            bad: None,
            start: key.stream("loss-start"),
            transitions: key.stream("loss-transition"),
            losses: key.stream("loss"),
        }
    }

    /// The transition is drawn first, then the loss of the state before it.
    pub(super) fn loses(&mut self, index: u32) -> bool {
        let index = u64::from(index);
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
