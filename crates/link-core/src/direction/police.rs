// SPDX-License-Identifier: Apache-2.0
//! Policy of an operator against a transport that it does not trust: it blocks it, or polices its
//! rate.

use crate::packet::{Packet, Protocol};
use crate::timeline::Timeline;
use crate::units::{BitRate, Bytes, Nanos};
use crate::verdict::DropReason;

/// Tokens that one bit costs; a rate of r bit/s gives r of them in a nanosecond.
const TOKENS_PER_BIT: u128 = 1_000_000_000;

/// Every packet of a transport is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The transport whose packets are meant.
    pub protocol: Protocol,
    /// The instant at which the block begins.
    pub from: Nanos,
}

/// Packets of a transport are dropped that find too few tokens in a bucket, which is full at first (RFC 2697 without
/// its second bucket). IP bytes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Police {
    /// The transport whose packets are meant.
    pub protocol: Protocol,
    /// Rate at which the bucket fills.
    pub rate: BitRate,
    /// Bytes that the bucket holds.
    pub burst: Bytes,
    /// The instant at which policing begins.
    pub from: Nanos,
}

/// Blocks and policers over time. Each policer has a bucket of its own, which is full when its time begins.
#[derive(Clone, Debug)]
pub struct PoliceStage {
    block: Timeline<Option<Block>>,
    police: Timeline<Option<Police>>,
    /// The bucket of the policer in force, with the number of its span.
    bucket: Option<(usize, Bucket)>,
}

/// A policer and what is in its bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    police: Police,
    tokens: u128,
    filled: Nanos,
}

impl PoliceStage {
    /// The stage with full buckets.
    #[must_use]
    pub fn new(block: Timeline<Option<Block>>, police: &Timeline<Option<Police>>) -> Self {
        Self {
            block,
            police: police.clone(),
            bucket: None,
        }
    }

    /// Blocks another transport from `at` on, or none.
    pub(super) fn set_block(&mut self, at: Nanos, block: Option<Block>) {
        self.block.insert(at, block);
    }

    /// Sets another policer from `at` on, whose bucket is full, or none.
    pub(super) fn set_police(&mut self, at: Nanos, police: Option<Police>) {
        self.police.insert(at, police);
    }

    /// Drop of a packet that is here at `t`, which never goes back, if there is one.
    pub fn judge(&mut self, t: Nanos, packet: &Packet) -> Option<DropReason> {
        let blocks = |block: &Block| block.protocol == packet.protocol && block.from <= t;
        if self.block.at(t).as_ref().is_some_and(blocks) {
            return Some(DropReason::Blocked);
        }
        let applies = |police: &Police| police.protocol == packet.protocol && police.from <= t;
        let (span, since, police) = self.police.entered_at(t);
        let police = (*police)?;
        let bucket = match &mut self.bucket {
            Some((of, bucket)) if *of == span => bucket,
            other => &mut other.insert((span, Bucket::full(police, since))).1,
        };
        (applies(&police) && !bucket.pays_for(packet.size, t)).then_some(DropReason::Policed)
    }
}

impl Bucket {
    /// A full one at `since`.
    fn full(police: Police, since: Nanos) -> Self {
        Self {
            police,
            tokens: tokens(police.burst),
            filled: since,
        }
    }

    /// Takes the tokens that a packet costs at `t`, if there are enough.
    fn pays_for(&mut self, size: Bytes, t: Nanos) -> bool {
        let earned = u128::from(self.police.rate.0) * u128::from(t.since(self.filled).0);
        self.tokens = (self.tokens + earned).min(tokens(self.police.burst));
        self.filled = t;
        let cost = tokens(size);
        let pays = cost <= self.tokens;
        if pays {
            self.tokens -= cost;
        }
        pays
    }
}

fn tokens(size: Bytes) -> u128 {
    u128::from(size.0) * 8 * TOKENS_PER_BIT
}
