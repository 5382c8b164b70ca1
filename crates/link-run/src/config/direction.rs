// SPDX-License-Identifier: Apache-2.0
//! One direction in the configuration file: its fields, how a schedule changes them, and what the link makes of them.

use std::path::PathBuf;

use link_core as core;
use link_core::{BitRate, Bytes, Nanos, Timeline};
use serde::Deserialize;

use super::address::Addresses;
use super::aqm::Aqm;
use super::elements::{
    chance, optional, Jitter, Loss, LossAs, LossAt, LossBy, Probability, Queue, Reorder, Trace,
};
use super::police::{Block, Police};
use super::random_rate::RandomRate;
use super::slot::Slot;
use crate::error::Error;

/// One direction as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    #[serde(default)]
    pub(super) rate_bit_per_s: Option<u64>,
    #[serde(default)]
    pub(super) burst_bytes: Option<u64>,
    #[serde(default)]
    pub(super) peak_rate_bit_per_s: Option<u64>,
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
    pub(super) oversize: Option<Oversize>,
    #[serde(default)]
    pub(super) slot: Option<Slot>,
    #[serde(default)]
    pub(super) queue: Queue,
    #[serde(default)]
    pub(super) aqm: Option<Aqm>,
    #[serde(default)]
    pub(super) delay_ns: u64,
    #[serde(default)]
    pub(super) delay_trace: Option<PathBuf>,
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
    pub(super) loss_as: LossAs,
    #[serde(default)]
    pub(super) duplicate_correlation: Option<f64>,
    #[serde(default)]
    pub(super) corrupt_correlation: Option<f64>,
    #[serde(default)]
    pub(super) reorder: Option<Reorder>,
    #[serde(default)]
    pub(super) duplicate: Option<Probability>,
    #[serde(default)]
    pub(super) corrupt: Option<Probability>,
    #[serde(default)]
    pub(super) schedule: Vec<Change>,
    #[serde(default)]
    pub(super) repeat_ns: Option<u64>,
    #[serde(default)]
    pub(super) trace: Option<Trace>,
}

/// The chance of a correlation, which is never without one.
fn repeat(field: &str, correlation: Option<f64>) -> Result<core::Chance, String> {
    let given = chance(field, correlation.unwrap_or(0.0));
    given.map_err(|message| message.trim_start_matches('.').to_owned())
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Oversize {
    above_bytes: u64,
    probability: f64,
    #[serde(default)]
    after_ns: u64,
    #[serde(default)]
    too_big: TooBig,
}

/// Answer to the sender of a packet that is too big.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum TooBig {
    #[default]
    #[serde(rename = "black hole")]
    BlackHole,
    #[serde(rename = "icmp")]
    Icmp,
}

impl Oversize {
    fn element(&self) -> Result<core::Oversize, String> {
        Ok(core::Oversize {
            above: Bytes(self.above_bytes),
            chance: chance("probability", self.probability)?,
            from: Nanos(self.after_ns),
            told: self.too_big == TooBig::Icmp,
        })
    }
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
    pub(super) oversize: Setting<Option<Oversize>>,
    pub(super) slot: Setting<Option<Slot>>,
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

impl Direction {
    /// The constant delay at the start.
    #[must_use]
    pub fn delay(&self) -> Nanos {
        Nanos(self.delay_ns)
    }

    /// True if it always passes packets on as fast as they come.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        let limits = |change: &Change| matches!(change.set.rate_bit_per_s, Setting::To(Some(_)));
        self.rate_bit_per_s.is_none()
            && self.edge_rate_bit_per_s.is_none()
            && self.random_rate.is_none()
            && self.trace.is_none()
            && !self.schedule.iter().any(limits)
    }

    /// Adds one change to the direction, behind those that its schedule has for that instant.
    #[must_use]
    pub(super) fn with(&self, change: Change) -> Self {
        let mut changed = self.clone();
        let place = changed
            .schedule
            .partition_point(|known| known.at_ns <= change.at_ns);
        changed.schedule.insert(place, change);
        changed
    }

    /// True if its course begins anew in each period.
    pub(super) fn repeats(&self) -> bool {
        self.repeat_ns.is_some()
    }

    /// The elements' configuration; `name` is `up` or `down` and is used in messages.
    ///
    /// # Errors
    /// [`Error::Config`] if a value is out of its range or the trace cannot be read.
    pub fn elements(&self, name: &str) -> Result<core::DirectionConfig, Error> {
        self.build()
            .map_err(|message| Error::config(format!("{name}.{message}")))
    }

    fn build(&self) -> Result<core::DirectionConfig, String> {
        if self.edge_rate_bit_per_s == Some(0) {
            return Err("edge_rate_bit_per_s: must be above 0".to_owned());
        }
        if self
            .schedule
            .windows(2)
            .any(|pair| pair[0].at_ns > pair[1].at_ns)
        {
            return Err("schedule: at_ns must not decrease".to_owned());
        }
        self.check_period()?;
        Ok(core::DirectionConfig {
            edge_rate: self.edge_rate_bit_per_s.map(BitRate),
            block: self.timeline(
                "block",
                &self.block,
                |set| &set.block,
                |block| Ok(block.map(Block::element)),
            )?,
            police: self.timeline(
                "police",
                &self.police,
                |set| &set.police,
                |police| Ok(police.map(Police::element)),
            )?,
            oversize: self.timeline(
                "oversize",
                &self.oversize,
                |set| &set.oversize,
                |oversize| optional(oversize, Oversize::element),
            )?,
            service: self.service()?,
            overhead: Bytes(self.overhead_bytes),
            slot: self.timeline(
                "slot",
                &self.slot,
                |set| &set.slot,
                |slot| optional(slot, Slot::element),
            )?,
            queue: self.timeline(
                "queue",
                &self.queue,
                |set| &set.queue,
                |queue| Ok(queue.bound()),
            )?,
            aqm: self.aqm()?,
            delay: self.delays()?,
            jitter: self.timeline(
                "jitter",
                &self.jitter,
                |set| &set.jitter,
                |jitter| optional(jitter, Jitter::element),
            )?,
            loss: self.losses()?,
            loss_by: match self.loss_by {
                LossBy::Index => core::LossKey::Index,
                LossBy::Class => core::LossKey::Class,
                LossBy::Bytes => core::LossKey::Bytes,
                LossBy::SuperPacket => core::LossKey::SuperPacket,
            },
            drop: self
                .drop
                .elements()
                .map_err(|message| format!("drop{message}"))?,
            spare: self
                .spare
                .elements()
                .map_err(|message| format!("spare{message}"))?,
            loss_at: match self.loss_at {
                LossAt::Entry => core::LossAt::Entry,
                LossAt::Exit => core::LossAt::Exit,
            },
            loss_marks: self.loss_as == LossAs::EcnMark,
            duplicate_repeat: repeat("duplicate_correlation", self.duplicate_correlation)?,
            corrupt_repeat: repeat("corrupt_correlation", self.corrupt_correlation)?,
            reorder: self.timeline(
                "reorder",
                &self.reorder,
                |set| &set.reorder,
                |it| optional(it, Reorder::element),
            )?,
            duplicate: self.timeline(
                "duplicate",
                &self.duplicate,
                |set| &set.duplicate,
                Probability::element,
            )?,
            corrupt: self.timeline(
                "corrupt",
                &self.corrupt,
                |set| &set.corrupt,
                Probability::element,
            )?,
        })
    }

    fn aqm(&self) -> Result<Timeline<Option<core::Aqm>>, String> {
        let aqm = self.timeline(
            "aqm",
            &self.aqm,
            |set| &set.aqm,
            |aqm| optional(aqm, Aqm::element),
        )?;
        if aqm.values().all(Option::is_none) {
            return Ok(aqm);
        }
        let in_time = |queue: &Queue| queue.time_ns.is_some();
        let later =
            |change: &Change| matches!(&change.set.queue, Setting::To(queue) if in_time(queue));
        if in_time(&self.queue) || self.schedule.iter().any(later) {
            return Err("aqm: a managed queue has no bound in time (time_ns)".to_owned());
        }
        let queues = |aqm: &Option<core::Aqm>| aqm.and_then(|aqm| aqm.fair);
        let first = aqm.values().next().and_then(queues);
        if aqm.values().any(|aqm| queues(aqm) != first) {
            return Err(
                "aqm: a schedule cannot bring or remove the queues by flow of fq_codel, nor change their flows and quantum"
                    .to_owned(),
            );
        }
        let dual = |aqm: &Option<core::Aqm>| {
            aqm.is_some_and(|aqm| matches!(aqm.rule, core::Rule::DualPi2(_)))
        };
        if aqm.values().any(dual) && !aqm.values().all(dual) {
            return Err(
                "aqm: a schedule cannot bring or remove the two queues of dualpi2".to_owned(),
            );
        }
        Ok(aqm)
    }

    /// One setting over time: its first value and what the schedule sets it to.
    pub(super) fn timeline<T, U>(
        &self,
        field: &str,
        first: &T,
        set: impl Fn(&Settings) -> &Setting<T>,
        element: impl Fn(&T) -> Result<U, String>,
    ) -> Result<Timeline<U>, String> {
        let mut timeline =
            Timeline::constant(element(first).map_err(|message| format!("{field}{message}"))?);
        for (number, change) in self.schedule.iter().enumerate() {
            if let Setting::To(value) = set(&change.set) {
                let value = element(value)
                    .map_err(|message| format!("schedule[{number}].set.{field}{message}"))?;
                timeline = timeline.then(Nanos(change.at_ns), value);
            }
        }
        Ok(match self.repeat_ns.map(Nanos) {
            Some(period) if timeline.values().nth(1).is_some() => timeline.repeated(period),
            _ => timeline,
        })
    }
}
