// SPDX-License-Identifier: Apache-2.0
//! Slots in the configuration file.

use link_core as core;
use link_core::{Bytes, Nanos};
use serde::Deserialize;

/// Shorter times would make one packet take more draws than there is time for.
const LEAST_TIME_NS: u64 = 100_000;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slot {
    least_ns: u64,
    #[serde(default)]
    most_ns: Option<u64>,
    #[serde(default)]
    packets: Option<u32>,
    #[serde(default)]
    bytes: Option<u64>,
}

impl Slot {
    /// The element; messages start with the field's dot.
    pub(super) fn element(&self) -> Result<core::Slot, String> {
        let least = self.least_ns;
        let most = self.most_ns.unwrap_or(least);
        if least < LEAST_TIME_NS {
            return Err(format!(
                ".least_ns: {least} is below {LEAST_TIME_NS} (100 us)"
            ));
        }
        if most < least {
            return Err(format!(".most_ns: {most} is below the least time, {least}"));
        }
        if self.packets == Some(0) || self.bytes == Some(0) {
            return Err(": a slot lets out at least one packet, of one byte".to_owned());
        }
        Ok(core::Slot {
            least: Nanos(least),
            most: Nanos(most),
            packets: self.packets,
            bytes: self.bytes.map(Bytes),
        })
    }
}
