// SPDX-License-Identifier: Apache-2.0
//! Rate of a direction in the configuration file: fixed, shaped by a bucket of tokens, drawn by chance, or a trace.

use link_core as core;
use link_core::{BitRate, Bytes};

use super::direction::{Change, Direction, Setting};
use super::elements::TraceFormat;
use super::random_rate::RandomRate;

impl Direction {
    pub(super) fn service(&self) -> Result<core::Service, String> {
        let bucket = self.bucket()?;
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
                .map(|rates| match bucket {
                    None => core::Service::Rate(rates),
                    Some(bucket) => core::Service::Shaped(rates, bucket),
                });
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

    /// The bucket of tokens that shapes the rate.
    pub(super) fn bucket(&self) -> Result<Option<core::Bucket>, String> {
        let peak = self.peak_rate_bit_per_s.map(BitRate);
        let Some(burst) = self.burst_bytes else {
            return match peak {
                None => Ok(None),
                Some(_) => Err("peak_rate_bit_per_s: needs burst_bytes".to_owned()),
            };
        };
        if burst == 0 {
            return Err("burst_bytes: must be above 0".to_owned());
        }
        if peak == Some(BitRate(0)) {
            return Err("peak_rate_bit_per_s: must be above 0".to_owned());
        }
        if self.trace.is_some() || self.random_rate.is_some() || !self.has_rates() {
            return Err("burst_bytes: needs rate_bit_per_s, not trace or random_rate".to_owned());
        }
        let burst = Bytes(burst);
        Ok(Some(core::Bucket { burst, peak }))
    }

    pub(super) fn random(&self, random: &RandomRate) -> Result<core::Service, String> {
        if self.trace.is_some() || self.has_rates() {
            return Err(
                "random_rate: takes the place of rate_bit_per_s and trace; give only one of them"
                    .to_owned(),
            );
        }
        random.element().map(core::Service::Random)
    }

    /// True if a rate is given, at the start or later.
    pub(super) fn has_rates(&self) -> bool {
        let later = |change: &Change| matches!(change.set.rate_bit_per_s, Setting::To(_));
        self.rate_bit_per_s.is_some() || self.schedule.iter().any(later)
    }
}
