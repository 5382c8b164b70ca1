// SPDX-License-Identifier: Apache-2.0
//! Random and listed loss, one model a file.

mod bernoulli;
mod gilbert_elliott;
mod gilbert_elliott_time;
mod list;

pub use gilbert_elliott::GilbertElliott;
pub use gilbert_elliott_time::GilbertElliottTime;

use crate::random::{Chance, StreamKey};
use crate::timeline::Timeline;
use crate::units::Nanos;

/// A model of loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// Each packet by itself.
    Bernoulli(Chance),
    /// Bursts counted in packets.
    GilbertElliott(GilbertElliott),
    /// Bursts that last a time, whatever the packet rate.
    GilbertElliottTime(GilbertElliottTime),
    /// Exactly these packet indices, in ascending order.
    List(Vec<u32>),
}

/// Why a packet was lost at the loss stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Lost by a random model.
    Random,
    /// Lost because it stands on the explicit list.
    Listed,
}

#[derive(Clone, Debug)]
enum Running {
    None,
    Bernoulli(Box<bernoulli::State>),
    GilbertElliott(Box<gilbert_elliott::State>),
    GilbertElliottTime(Box<gilbert_elliott_time::State>),
    List(list::State),
}

/// The loss stage: the model in force at each instant.
#[derive(Clone, Debug)]
pub struct LossStage {
    models: Timeline<Running>,
}

impl LossStage {
    /// Models of one direction over time; each starts afresh at its change.
    #[must_use]
    pub fn new(models: &Timeline<Option<Loss>>, key: &StreamKey) -> Self {
        let models = models.map(|at, model| match model {
            None => Running::None,
            Some(Loss::Bernoulli(chance)) => {
                Running::Bernoulli(Box::new(bernoulli::State::new(*chance, key)))
            }
            Some(Loss::GilbertElliott(model)) => {
                Running::GilbertElliott(Box::new(gilbert_elliott::State::new(*model, key)))
            }
            Some(Loss::GilbertElliottTime(model)) => Running::GilbertElliottTime(Box::new(
                gilbert_elliott_time::State::new(*model, at, key),
            )),
            Some(Loss::List(indices)) => Running::List(list::State::new(indices.clone())),
        });
        Self { models }
    }

    /// Whether packet `index`, which is here at `t`, is lost. `t` never goes back.
    pub fn judge(&mut self, t: Nanos, index: u32) -> Option<LossKind> {
        let random = match self.models.at(t) {
            Running::None => false,
            Running::Bernoulli(state) => state.loses(index),
            Running::GilbertElliott(state) => state.loses(index),
            Running::GilbertElliottTime(state) => state.loses(t, index),
            Running::List(state) => return state.loses(index).then_some(LossKind::Listed),
        };
        random.then_some(LossKind::Random)
    }
}
