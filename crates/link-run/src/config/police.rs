// SPDX-License-Identifier: Apache-2.0
//! Blocking and policing in the configuration file.

use link_core as core;
use link_core::{BitRate, Bytes, Nanos};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    Tcp,
    Udp,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    protocol: Protocol,
    #[serde(default)]
    after_ns: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Police {
    protocol: Protocol,
    rate_bit_per_s: u64,
    burst_bytes: u64,
    #[serde(default)]
    after_ns: u64,
}

impl Protocol {
    fn element(self) -> core::Protocol {
        match self {
            Self::Tcp => core::Protocol::Tcp,
            Self::Udp => core::Protocol::Udp,
        }
    }
}

impl Block {
    pub(super) fn element(self) -> core::Block {
        core::Block {
            protocol: self.protocol.element(),
            from: Nanos(self.after_ns),
        }
    }
}

impl Police {
    pub(super) fn element(self) -> core::Police {
        core::Police {
            protocol: self.protocol.element(),
            rate: BitRate(self.rate_bit_per_s),
            burst: Bytes(self.burst_bytes),
            from: Nanos(self.after_ns),
        }
    }
}
