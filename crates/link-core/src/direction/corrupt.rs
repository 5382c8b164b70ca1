// SPDX-License-Identifier: Apache-2.0
//! Packets in which a bit is turned over.

use crate::chance_stage::ChanceStage;
use crate::random::{Chance, Stream, StreamKey};
use crate::timeline::Timeline;
use crate::units::Nanos;

#[derive(Clone, Debug)]
pub(super) struct CorruptStage {
    strikes: ChanceStage<Chance>,
    positions: Stream,
}

impl CorruptStage {
    pub(super) fn new(
        chances: &Timeline<Chance>,
        repeat: Chance,
        key: &StreamKey,
        stage: &str,
    ) -> Self {
        Self {
            strikes: ChanceStage::new(chances.clone(), |chance| *chance, key, stage)
                .repeating(repeat, key, stage),
            positions: key.stream(&format!("{stage}-position")),
        }
    }

    /// Sets another share of packets from `at` on.
    pub(super) fn set(&mut self, at: Nanos, chance: Chance) {
        self.strikes.set(at, chance);
    }

    /// The position of the bit, if packet `index` is struck at `t`.
    pub(super) fn strike(&mut self, t: Nanos, index: u32) -> Option<u64> {
        self.strikes
            .strike(t, index)
            .map(|_| self.positions.draw(index.into()))
    }
}
