// SPDX-License-Identifier: Apache-2.0
//! What an operator does to a transport that it does not trust: blocks it, or polices its rate.

use crate::direction::DropReason;
use crate::packet::{Packet, Protocol};
use crate::units::{BitRate, Bytes, Nanos};

/// Tokens that one bit costs; a rate of r bit/s gives r of them in a nanosecond.
const TOKENS_PER_BIT: u128 = 1_000_000_000;

/// Every packet of a transport is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Whose packets.
    pub protocol: Protocol,
    /// From when on.
    pub from: Nanos,
}

/// Packets of a transport are dropped that find too few tokens in a bucket, which is full at first (RFC 2697 without its
/// second bucket). IP bytes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Police {
    /// Whose packets.
    pub protocol: Protocol,
    /// How fast the bucket fills.
    pub rate: BitRate,
    /// What it holds.
    pub burst: Bytes,
    /// From when on.
    pub from: Nanos,
}

/// Both, and what is in the bucket.
#[derive(Clone, Copy, Debug)]
pub struct PoliceStage {
    block: Option<Block>,
    police: Option<Police>,
    tokens: u128,
    filled: Nanos,
}

impl PoliceStage {
    /// With a full bucket.
    #[must_use]
    pub fn new(block: Option<Block>, police: Option<Police>) -> Self {
        Self {
            block,
            police,
            tokens: police.map_or(0, |police| tokens(police.burst)),
            filled: Nanos::ZERO,
        }
    }

    /// Whether a packet that is here at `t`, which never goes back, is dropped.
    pub fn judge(&mut self, t: Nanos, packet: &Packet) -> Option<DropReason> {
        let blocks = |block: &Block| block.protocol == packet.protocol && block.from <= t;
        if self.block.as_ref().is_some_and(blocks) {
            return Some(DropReason::Blocked);
        }
        let applies = |police: &Police| police.protocol == packet.protocol && police.from <= t;
        let police = self.police.filter(applies)?;
        let earned = u128::from(police.rate.0) * u128::from(t.since(self.filled).0);
        self.tokens = (self.tokens + earned).min(tokens(police.burst));
        self.filled = t;
        let cost = tokens(packet.size);
        if cost > self.tokens {
            return Some(DropReason::Policed);
        }
        self.tokens -= cost;
        None
    }
}

fn tokens(size: Bytes) -> u128 {
    u128::from(size.0) * 8 * TOKENS_PER_BIT
}
