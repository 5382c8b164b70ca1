// SPDX-License-Identifier: Apache-2.0
//! Random and listed loss, one model a file.

mod address;
mod bernoulli;
mod correlated;
mod gilbert_elliott;
mod gilbert_elliott_time;
mod key;
mod list;
mod recorded;

pub use address::{Address, AddressKind, Answer};
pub use gilbert_elliott::GilbertElliott;
pub use gilbert_elliott_time::GilbertElliottTime;
pub use key::LossKey;

use std::sync::Arc;

use address::Addressed;
use key::{Draw, Tally};

use crate::packet::Packet;
use crate::random::{Chance, StreamKey};
use crate::timeline::{Changes, Timeline};
use crate::units::Nanos;

/// A model of loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// Each packet by itself.
    Bernoulli(Chance),
    /// Each packet has with one chance the fate of the packet before it, and is else lost with the other: the share of
    /// lost packets is the chance of loss, and the correlation of packets k apart the k-th power of the other.
    Correlated {
        /// Chance of loss.
        chance: Chance,
        /// Chance of the fate of the packet before.
        repeat: Chance,
    },
    /// Bursts counted in packets.
    GilbertElliott(GilbertElliott),
    /// Bursts that last a time, whatever the packet rate.
    GilbertElliottTime(GilbertElliottTime),
    /// Exactly these packet indices, in ascending order.
    List(Vec<u32>),
    /// A recording in time: the probability of each instant, counted from where the model begins.
    Timed(Arc<Timeline<Chance>>),
    /// A recording by packet, which begins anew after its last one. It has at least one.
    Recorded(Arc<[bool]>),
}

/// Kind of a loss at the loss stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Lost by a random model.
    Random,
    /// Lost because it stands on the explicit list, or is addressed.
    Listed,
}

#[derive(Clone, Debug)]
enum Running {
    None,
    Bernoulli(Box<bernoulli::State>),
    Correlated(Box<correlated::State>),
    GilbertElliott(Box<gilbert_elliott::State>),
    /// The periods of [`LossStage`].
    Periods,
    List(list::State),
    Timed(Box<recorded::State>),
    Recorded(Arc<[bool]>),
}

impl Running {
    /// The model as it starts at `at`; `class` tells the streams of small packets from the others.
    fn new(model: Option<&Loss>, at: Nanos, key: &StreamKey, class: &str) -> Self {
        match model {
            None => Self::None,
            Some(Loss::Bernoulli(chance)) => {
                Self::Bernoulli(Box::new(bernoulli::State::new(*chance, key, class)))
            }
            Some(Loss::Correlated { chance, repeat }) => {
                let state = correlated::State::new(*chance, *repeat, key, class);
                Self::Correlated(Box::new(state))
            }
            Some(Loss::GilbertElliott(model)) => {
                Self::GilbertElliott(Box::new(gilbert_elliott::State::new(*model, key, class)))
            }
            Some(Loss::GilbertElliottTime(_)) => Self::Periods,
            Some(Loss::List(indices)) => Self::List(list::State::new(indices.clone())),
            Some(Loss::Timed(chances)) => {
                let chances = Arc::clone(chances);
                Self::Timed(Box::new(recorded::State::new(chances, at, key, class)))
            }
            Some(Loss::Recorded(lost)) => Self::Recorded(Arc::clone(lost)),
        }
    }

    fn judge(
        &mut self,
        t: Nanos,
        index: u32,
        draw: Draw,
        periods: &mut gilbert_elliott_time::State,
    ) -> Option<LossKind> {
        let random = match self {
            Self::None => false,
            Self::Bernoulli(state) => state.loses(draw.number),
            Self::Correlated(state) => state.loses(draw),
            Self::GilbertElliott(state) => state.loses(draw),
            Self::Periods => periods.loses(t, draw.number),
            Self::List(state) => return state.loses(index).then_some(LossKind::Listed),
            Self::Timed(state) => state.loses(t, draw.number),
            Self::Recorded(lost) => {
                return lost[index as usize % lost.len()].then_some(LossKind::Listed)
            }
        };
        random.then_some(LossKind::Random)
    }
}

/// Names of the streams of large packets and of small ones.
const CLASSES: [&str; 2] = ["", "-small"];

/// Rules of the loss, and how it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct LossRules<'a> {
    /// The model over time. Each starts afresh at its change, but for periods of time, which go on.
    pub models: &'a Timeline<Option<Loss>>,
    /// Key by which the draws are numbered.
    pub key: LossKey,
    /// Packets to be lost whatever the model says.
    pub drop: &'a [Address],
    /// Packets that no model may lose.
    pub spare: &'a [Address],
}

/// The loss stage: the model in force at each instant, and the packets that are addressed by what they are.
#[derive(Clone, Debug)]
pub struct LossStage {
    key: LossKey,
    tally: Tally,
    models: Changes<Option<Loss>>,
    streams: StreamKey,
    /// The models of large packets and of small ones.
    running: [Running; 2],
    periods: Box<[gilbert_elliott_time::State; 2]>,
    drop: Addressed,
    spare: Addressed,
}

impl LossStage {
    /// The stage of one direction, whose streams `key` names.
    #[must_use]
    pub fn new(rules: LossRules<'_>, key: &StreamKey) -> Self {
        Self {
            key: rules.key,
            tally: Tally::default(),
            models: rules.models.changes(),
            streams: key.clone(),
            running: [Running::None, Running::None],
            periods: Box::new(CLASSES.map(|class| gilbert_elliott_time::State::new(key, class))),
            drop: Addressed::new(rules.drop),
            spare: Addressed::new(rules.spare),
        }
    }

    /// Judges whether packet `index`, which is here at `t`, is lost. `t` never goes back.
    pub fn judge(&mut self, t: Nanos, index: u32, packet: &Packet) -> Option<LossKind> {
        let draw = self.tally.count(self.key, index, packet);
        while let Some((at, model)) = self.models.take(t) {
            self.begin(at, model.as_ref());
        }
        let class = usize::from(draw.small);
        let drawn = self.running[class].judge(t, index, draw, &mut self.periods[class]);
        let spared = self.spare.meets(index, packet, drawn.is_some());
        if self.drop.meets(index, packet, true) {
            return Some(LossKind::Listed);
        }
        drawn.filter(|_| !spared)
    }

    /// Sets another model from `at` on, or none.
    pub(crate) fn set(&mut self, at: Nanos, model: Option<Loss>) {
        self.models.insert(at, model);
    }

    fn begin(&mut self, at: Nanos, model: Option<&Loss>) {
        if let Some(Loss::GilbertElliottTime(model)) = model {
            for periods in self.periods.iter_mut() {
                periods.set(*model, at);
            }
        }
        self.running = CLASSES.map(|class| Running::new(model, at, &self.streams, class));
    }

    /// Outcomes of the packets to be dropped, in the order in which they were given.
    #[must_use]
    pub fn dropped(&self) -> &[Answer] {
        self.drop.answers()
    }

    /// Outcomes of the packets to be spared, in the order in which they were given.
    #[must_use]
    pub fn spared(&self) -> &[Answer] {
        self.spare.answers()
    }
}
