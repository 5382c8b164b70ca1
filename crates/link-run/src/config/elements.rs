// SPDX-License-Identifier: Apache-2.0
//! Translates a direction of the configuration into the link's elements, and checks its values.

use link_core as core;
use link_core::{BitRate, Bytes, Chance, Nanos, Timeline};

use super::aqm::Aqm;
use super::direction::{
    Direction, Distribution, Jitter, JitterMode, Loss, LossAt, LossBy, Probability, Queue, Reorder,
    Setting, Settings, TraceFormat,
};
use super::police::{Block, Police};
use super::random_rate::RandomRate;
use crate::error::Error;

impl Direction {
    /// The constant delay at the start.
    #[must_use]
    pub fn delay(&self) -> Nanos {
        Nanos(self.delay_ns)
    }

    /// True if it always passes packets on as fast as they come.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        let limits = |change: &super::direction::Change| {
            matches!(change.set.rate_bit_per_s, Setting::To(Some(_)))
        };
        self.rate_bit_per_s.is_none()
            && self.edge_rate_bit_per_s.is_none()
            && self.random_rate.is_none()
            && self.trace.is_none()
            && !self.schedule.iter().any(limits)
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
            service: self.service()?,
            overhead: Bytes(self.overhead_bytes),
            queue: self.timeline(
                "queue",
                &self.queue,
                |set| &set.queue,
                |queue| Ok(queue.bound()),
            )?,
            aqm: self.aqm()?,
            delay: self.timeline(
                "delay_ns",
                &self.delay_ns,
                |set| &set.delay_ns,
                |ns| Ok(Nanos(*ns)),
            )?,
            jitter: self.timeline(
                "jitter",
                &self.jitter,
                |set| &set.jitter,
                |jitter| optional(jitter, Jitter::element),
            )?,
            loss: self.timeline(
                "loss",
                &self.loss,
                |set| &set.loss,
                |loss| optional(loss, Loss::element),
            )?,
            loss_by: match self.loss_by {
                LossBy::Index => core::LossKey::Index,
                LossBy::Class => core::LossKey::Class,
                LossBy::Bytes => core::LossKey::Bytes,
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
        let later = |change: &super::direction::Change| matches!(&change.set.queue, Setting::To(queue) if in_time(queue));
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
        Ok(aqm)
    }

    fn service(&self) -> Result<core::Service, String> {
        if let Some(random) = &self.random_rate {
            return self.random(random);
        }
        let Some(trace) = &self.trace else {
            return self
                .timeline(
                    "rate_bit_per_s",
                    &self.rate_bit_per_s,
                    |set| &set.rate_bit_per_s,
                    |rate| Ok(rate.map(BitRate)),
                )
                .map(core::Service::Rate);
        };
        if self.has_rates() {
            return Err(
                "trace: takes the place of rate_bit_per_s; give only one of them".to_owned(),
            );
        }
        let TraceFormat::Mahimahi = trace.format;
        let text = std::fs::read_to_string(&trace.path)
            .map_err(|error| format!("trace.path: {}: {error}", trace.path.display()))?;
        core::Trace::parse(&text, trace.repeat)
            .map(core::Service::Trace)
            .map_err(|message| format!("trace.path: {}: {message}", trace.path.display()))
    }

    fn random(&self, random: &RandomRate) -> Result<core::Service, String> {
        if self.trace.is_some() || self.has_rates() {
            return Err(
                "random_rate: takes the place of rate_bit_per_s and trace; give only one of them"
                    .to_owned(),
            );
        }
        random.element().map(core::Service::Random)
    }

    /// True if a rate is given, at the start or later.
    fn has_rates(&self) -> bool {
        let later =
            |change: &super::direction::Change| matches!(change.set.rate_bit_per_s, Setting::To(_));
        self.rate_bit_per_s.is_some() || self.schedule.iter().any(later)
    }

    /// One setting over time: its first value and what the schedule sets it to.
    fn timeline<T, U>(
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
        Ok(timeline)
    }
}

/// Turns an optional setting; messages start with the field's dot or colon.
#[expect(
    clippy::ref_option,
    reason = "the settings of a schedule are referred to as they are kept"
)]
fn optional<T, U>(
    setting: &Option<T>,
    element: impl Fn(&T) -> Result<U, String>,
) -> Result<Option<U>, String> {
    setting.as_ref().map(element).transpose()
}

fn chance(field: &str, probability: f64) -> Result<Chance, String> {
    Chance::new(probability)
        .ok_or_else(|| format!(".{field}: {probability} is not between 0 and 1"))
}

impl Queue {
    fn bound(&self) -> core::QueueBound {
        core::QueueBound {
            bytes: self.bytes.map(Bytes),
            packets: self.packets,
            time: self.time_ns.map(Nanos),
        }
    }
}

impl Jitter {
    fn element(&self) -> Result<core::Jitter, String> {
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
    fn element(&self) -> Result<core::Loss, String> {
        Ok(match self {
            Self::Bernoulli { probability } => {
                core::Loss::Bernoulli(chance("probability", *probability)?)
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
        })
    }
}

impl Reorder {
    fn element(&self) -> Result<core::Reorder, String> {
        Ok(core::Reorder {
            chance: chance("probability", self.probability)?,
            extra_delay: Nanos(self.extra_delay_ns),
        })
    }
}

impl Probability {
    #[expect(clippy::ref_option, reason = "as above")]
    fn element(setting: &Option<Self>) -> Result<Chance, String> {
        setting.map_or(Ok(Chance::NEVER), |it| {
            chance("probability", it.probability)
        })
    }
}
