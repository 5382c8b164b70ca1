// SPDX-License-Identifier: Apache-2.0
//! A stage that strikes packets by chance: reordering, duplication, corruption.

use crate::random::{Chance, Stream, StreamKey};
use crate::timeline::Timeline;
use crate::units::Nanos;

/// A setting over time, of which each packet is struck with a chance of its own.
#[derive(Clone, Debug)]
pub struct ChanceStage<T> {
    settings: Timeline<T>,
    chance: fn(&T) -> Chance,
    draws: Stream,
    /// Boxed, as few paths have it.
    repeats: Option<Box<Repeats>>,
}

/// Packets that have the fate of the one before.
#[derive(Clone, Debug)]
struct Repeats {
    chance: Chance,
    draws: Stream,
    /// The last draw, and whether it struck.
    last: Option<(u32, bool)>,
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
            repeats: None,
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

    /// The stage with packets that have, by this chance, the fate of the one before them.
    #[must_use]
    pub fn repeating(mut self, chance: Chance, key: &StreamKey, stage: &str) -> Self {
        self.repeats = (chance != Chance::NEVER).then(|| {
            Box::new(Repeats {
                chance,
                draws: key.stream(&format!("{stage}-repeat")),
                last: None,
            })
        });
        self
    }

    /// The setting in force, if packet `index` is struck at `t`.
    pub fn strike(&mut self, t: Nanos, index: u32) -> Option<T> {
        let setting = *self.settings.at(t);
        let chance = (self.chance)(&setting);
        let mut fresh =
            |index: u32| chance != Chance::NEVER && chance.hit(self.draws.draw(index.into()));
        let struck = match &mut self.repeats {
            None => fresh(index),
            Some(repeats) => repeats.fate(index, &mut fresh),
        };
        struck.then_some(setting)
    }
}

impl Repeats {
    /// The fate of a packet; those of one super-packet share it where they share their draw.
    fn fate(&mut self, index: u32, fresh: &mut impl FnMut(u32) -> bool) -> bool {
        let struck = match self.last {
            Some((last, struck)) if last == index => struck,
            Some((_, struck)) if self.chance.hit(self.draws.draw(index.into())) => struck,
            _ => fresh(index),
        };
        self.last = Some((index, struck));
        struck
    }
}
