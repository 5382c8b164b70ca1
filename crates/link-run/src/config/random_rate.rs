// SPDX-License-Identifier: Apache-2.0
//! A rate drawn by chance in the configuration file.

use link_core as core;
use link_core::{BitRate, Nanos};
use serde::Deserialize;

/// Shorter periods would make one packet take more draws than there is time for.
const LEAST_PERIOD_NS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RandomRate {
    least_bit_per_s: u64,
    most_bit_per_s: u64,
    every_ns: u64,
}

impl RandomRate {
    pub(super) fn element(self) -> Result<core::RandomRate, String> {
        let Self {
            least_bit_per_s: least,
            most_bit_per_s: most,
            every_ns: every,
        } = self;
        if least == 0 {
            return Err("random_rate.least_bit_per_s: must be above 0".to_owned());
        }
        if most < least {
            return Err(format!(
                "random_rate.most_bit_per_s: {most} is below the least rate, {least}"
            ));
        }
        if every < LEAST_PERIOD_NS {
            return Err(format!(
                "random_rate.every_ns: {every} is below {LEAST_PERIOD_NS} (1 ms)"
            ));
        }
        Ok(core::RandomRate {
            least: BitRate(least),
            most: BitRate(most),
            every: Nanos(every),
        })
    }
}
