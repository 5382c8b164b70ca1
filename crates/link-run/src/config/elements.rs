// SPDX-License-Identifier: Apache-2.0
//! Values in a direction of the configuration, each with the link's element that it stands for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use link_core as core;
use link_core::{Bytes, Chance, Nanos};
use serde::Deserialize;

/// Turns an optional setting; messages start with the field's dot or colon.
#[expect(
    clippy::ref_option,
    reason = "the settings of a schedule are referred to as they are kept"
)]
pub(super) fn optional<T, U>(
    setting: &Option<T>,
    element: impl Fn(&T) -> Result<U, String>,
) -> Result<Option<U>, String> {
    setting.as_ref().map(element).transpose()
}

pub(super) fn chance(field: &str, probability: f64) -> Result<Chance, String> {
    Chance::new(probability)
        .ok_or_else(|| format!(".{field}: {probability} is not between 0 and 1"))
}

/// Largest file of a recording, in bytes.
const LARGEST_RECORDING: u64 = 64 << 20;

/// Reads a recording; messages start with the field's dot. No FIFO is waited for.
pub(super) fn recorded<T>(
    path: &Path,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, String> {
    let refused = |what: String| format!(".path: {}: {what}", path.display());
    let found = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?;
    if !found.is_file() || found.len() > LARGEST_RECORDING {
        let most = "it is no regular file of at most 64 MiB";
        return Err(refused(most.to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    parse(&text).map_err(refused)
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
        #[serde(default)]
        correlation: Option<f64>,
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
    Trace {
        path: PathBuf,
        by: TraceBy,
    },
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TraceBy {
    Time,
    Packet,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LossBy {
    #[default]
    Index,
    Class,
    Bytes,
    SuperPacket,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LossAs {
    #[default]
    Drop,
    EcnMark,
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

impl Queue {
    pub(super) fn bound(&self) -> core::QueueBound {
        core::QueueBound {
            bytes: self.bytes.map(Bytes),
            packets: self.packets,
            time: self.time_ns.map(Nanos),
        }
    }
}

impl Jitter {
    pub(super) fn element(&self) -> Result<core::Jitter, String> {
        if self.scale_ns >= 1 << 60 {
            return Err(format!(".scale_ns: {} is beyond 2^60", self.scale_ns));
        }
        let distribution = match self.distribution {
            Distribution::Uniform => core::Distribution::Uniform,
            Distribution::Normal => core::Distribution::Normal,
            Distribution::Pareto => core::Distribution::Pareto,
            Distribution::ParetoNormal => core::Distribution::ParetoNormal,
        };
        let order = match self.mode {
            JitterMode::InOrder => core::Order::InOrder {
                half_life: self.half_life(distribution)?,
            },
            JitterMode::Reorder if self.half_life_ns != 0 => {
                return Err(".half_life_ns: goes with mode inorder only".to_owned());
            }
            JitterMode::Reorder => core::Order::Reorder,
        };
        Ok(core::Jitter {
            distribution,
            scale: Nanos(self.scale_ns),
            order,
        })
    }

    /// The half-life of jitter in order.
    fn half_life(&self, distribution: core::Distribution) -> Result<Nanos, String> {
        let least = core::Jitter::least_half_life(distribution, Nanos(self.scale_ns));
        if self.half_life_ns < least.0 {
            return Err(format!(
                ".half_life_ns: {} is less than {}: jitter that varies faster would change the order of packets",
                self.half_life_ns, least.0
            ));
        }
        Ok(Nanos(self.half_life_ns))
    }
}

impl Loss {
    pub(super) fn element(&self) -> Result<core::Loss, String> {
        Ok(match self {
            Self::Bernoulli {
                probability,
                correlation,
            } => {
                let lost = chance("probability", *probability)?;
                match correlation {
                    None => core::Loss::Bernoulli(lost),
                    Some(correlation) => core::Loss::Correlated {
                        chance: lost,
                        repeat: chance("correlation", *correlation)?,
                    },
                }
            }
            Self::GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad,
            } => {
                let bad_at_start = if p + r > 0.0 { p / (p + r) } else { 0.0 };
                core::Loss::GilbertElliott(core::GilbertElliott {
                    p: chance("p", *p)?,
                    r: chance("r", *r)?,
                    loss_good: chance("loss_good", *loss_good)?,
                    loss_bad: chance("loss_bad", *loss_bad)?,
                    bad_at_start: chance("p", bad_at_start)?,
                })
            }
            Self::GilbertElliottTime {
                mean_good_ns,
                mean_bad_ns,
                loss_good,
                loss_bad,
            } => {
                for (field, mean) in [
                    ("mean_good_ns", *mean_good_ns),
                    ("mean_bad_ns", *mean_bad_ns),
                ] {
                    if mean < 10_000 {
                        return Err(format!(".{field}: {mean} is below 10000 (10 us)"));
                    }
                }
                core::Loss::GilbertElliottTime(core::GilbertElliottTime {
                    mean_good: Nanos(*mean_good_ns),
                    mean_bad: Nanos(*mean_bad_ns),
                    loss_good: chance("loss_good", *loss_good)?,
                    loss_bad: chance("loss_bad", *loss_bad)?,
                })
            }
            Self::List { indices } => {
                let mut indices = indices.clone();
                indices.sort_unstable();
                core::Loss::List(indices)
            }
            Self::Trace { path, by } => match by {
                TraceBy::Time => {
                    core::Loss::Timed(Arc::new(recorded(path, core::parse_timed_losses)?))
                }
                TraceBy::Packet => {
                    core::Loss::Recorded(recorded(path, core::parse_packet_losses)?.into())
                }
            },
        })
    }
}

impl Reorder {
    pub(super) fn element(&self) -> Result<core::Reorder, String> {
        Ok(core::Reorder {
            chance: chance("probability", self.probability)?,
            extra_delay: Nanos(self.extra_delay_ns),
        })
    }
}

impl Probability {
    #[expect(clippy::ref_option, reason = "as above")]
    pub(super) fn element(setting: &Option<Self>) -> Result<Chance, String> {
        setting.map_or(Ok(Chance::NEVER), |it| {
            chance("probability", it.probability)
        })
    }
}
