// SPDX-License-Identifier: Apache-2.0
//! A stage that strikes each packet by itself: reordering, duplication, corruption.

use crate::random::{Chance, Stream, StreamKey};
use crate::timeline::Timeline;
use crate::units::Nanos;

/// A setting over time, of which each packet is struck with a chance of its own.
#[derive(Clone, Debug)]
pub struct ChanceStage<T> {
    settings: Timeline<T>,
    chance: fn(&T) -> Chance,
    draws: Stream,
}

impl<T: Copy> ChanceStage<T> {
    /// `stage` names the stream of draws, `chance` finds the chance in a setting.
    pub fn new(
        settings: Timeline<T>,
        chance: fn(&T) -> Chance,
        key: &StreamKey,
        stage: &str,
    ) -> Self {
        Self {
            settings,
            chance,
            draws: key.stream(stage),
        }
    }

    /// The setting at any instant.
    pub(crate) fn in_force(&self, t: Nanos) -> &T {
        self.settings.in_force(t)
    }

    /// Sets another setting from `at` on.
    pub(crate) fn set(&mut self, at: Nanos, setting: T) {
        self.settings.insert(at, setting);
    }

    /// The setting in force, if packet `index` is struck at `t`.
    pub fn strike(&mut self, t: Nanos, index: u32) -> Option<T> {
        let setting = *self.settings.at(t);
        let chance = (self.chance)(&setting);
        (chance != Chance::NEVER && chance.hit(self.draws.draw(index.into()))).then_some(setting)
    }
}
