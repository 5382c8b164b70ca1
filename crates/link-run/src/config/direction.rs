// SPDX-License-Identifier: Apache-2.0
//! One direction in the configuration file.

use std::path::PathBuf;

use serde::Deserialize;

use super::address::Addresses;
use super::aqm::Aqm;
use super::police::{Block, Police};
use super::random_rate::RandomRate;

/// One direction as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    #[serde(default)]
    pub(super) rate_bit_per_s: Option<u64>,
    #[serde(default)]
    pub(super) random_rate: Option<RandomRate>,
    #[serde(default)]
    pub(super) edge_rate_bit_per_s: Option<u64>,
    #[serde(default)]
    pub(super) overhead_bytes: u64,
    #[serde(default)]
    pub(super) block: Option<Block>,
    #[serde(default)]
    pub(super) police: Option<Police>,
    #[serde(default)]
    pub(super) queue: Queue,
    #[serde(default)]
    pub(super) aqm: Option<Aqm>,
    #[serde(default)]
    pub(super) delay_ns: u64,
    #[serde(default)]
    pub(super) jitter: Option<Jitter>,
    #[serde(default)]
    pub(super) loss: Option<Loss>,
    #[serde(default)]
    pub(super) loss_by: LossBy,
    #[serde(default)]
    pub(super) drop: Addresses,
    #[serde(default)]
    pub(super) spare: Addresses,
    #[serde(default)]
    pub(super) loss_at: LossAt,
    #[serde(default)]
    pub(super) reorder: Option<Reorder>,
    #[serde(default)]
    pub(super) duplicate: Option<Probability>,
    #[serde(default)]
    pub(super) corrupt: Option<Probability>,
    #[serde(default)]
    pub(super) schedule: Vec<Change>,
    #[serde(default)]
    pub(super) trace: Option<Trace>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Queue {
    pub(super) bytes: Option<u64>,
    pub(super) packets: Option<u32>,
    pub(super) time_ns: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jitter {
    pub(super) distribution: Distribution,
    pub(super) scale_ns: u64,
    pub(super) mode: JitterMode,
    #[serde(default)]
    pub(super) half_life_ns: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Distribution {
    Uniform,
    Normal,
    Pareto,
    ParetoNormal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JitterMode {
    InOrder,
    Reorder,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Loss {
    Bernoulli {
        probability: f64,
    },
    GilbertElliott {
        p: f64,
        r: f64,
        loss_good: f64,
        loss_bad: f64,
    },
    GilbertElliottTime {
        mean_good_ns: u64,
        mean_bad_ns: u64,
        loss_good: f64,
        loss_bad: f64,
    },
    List {
        indices: Vec<u32>,
    },
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LossBy {
    #[default]
    Index,
    Class,
    Bytes,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LossAt {
    #[default]
    Entry,
    Exit,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reorder {
    pub(super) probability: f64,
    pub(super) extra_delay_ns: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Probability {
    pub(super) probability: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    pub(super) format: TraceFormat,
    pub(super) path: PathBuf,
    #[serde(default)]
    pub(super) repeat: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TraceFormat {
    Mahimahi,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub(super) at_ns: u64,
    pub(super) set: Settings,
}

/// Settings that a change sets: what is absent stays, what is null is switched off.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    pub(super) rate_bit_per_s: Setting<Option<u64>>,
    pub(super) block: Setting<Option<Block>>,
    pub(super) police: Setting<Option<Police>>,
    pub(super) aqm: Setting<Option<Aqm>>,
    pub(super) delay_ns: Setting<u64>,
    pub(super) jitter: Setting<Option<Jitter>>,
    pub(super) loss: Setting<Option<Loss>>,
    pub(super) queue: Setting<Queue>,
    pub(super) reorder: Setting<Option<Reorder>>,
    pub(super) duplicate: Setting<Option<Probability>>,
    pub(super) corrupt: Setting<Option<Probability>>,
}

/// A field of a change.
#[derive(Clone, Debug, Default)]
pub(super) enum Setting<T> {
    /// The field is absent: the value stays.
    #[default]
    Kept,
    /// The field is given: the new value.
    To(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Setting<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::To)
    }
}
