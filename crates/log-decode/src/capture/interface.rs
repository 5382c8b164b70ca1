// SPDX-License-Identifier: Apache-2.0
//! Interface descriptions (pcapng section 4.2): link type, resolution of times, and the clock they were taken from.

use super::blocks::Fields;
use super::link_type::LinkType;
use super::pcapng::OPT_COMMENT;
use crate::{Severity, Stats};

const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
/// Words with which the link says which `CLOCK_REALTIME − CLOCK_MONOTONIC` its capture times
/// contain. What the link says before its offset; captures of older versions have the second.
const CLOCK_OFFSETS: [&str; 2] = [
    "quiclab realtime_minus_monotonic_ns=",
    "quiclab clock_offset_ns=",
];
/// Nanoseconds in a second.
const NANOSECONDS: u128 = 1_000_000_000;
const OUTSIDE_MODEL: u32 = u32::MAX;

/// Properties of an interface that are needed to read its packets.
#[derive(Debug)]
pub(super) struct Interface {
    pub(super) link: LinkType,
    /// Nanoseconds = ticks × `numerator` ÷ `denominator` + `offset_ns`.
    numerator: u128,
    denominator: u128,
    offset_ns: i128,
    /// True if the link itself wrote it: then its packet ids are those of the packet log.
    ours: bool,
    /// True if its options break off before they tell the resolution: what its times mean is not
    /// known.
    pub(super) is_timeless: bool,
}

impl Interface {
    pub(super) fn parse(body: Fields<'_>, stats: &mut Stats) -> Self {
        let mut interface = Self {
            link: LinkType::of(body.u16(0).unwrap_or(u16::MAX)),
            numerator: 1_000,
            denominator: 1,
            offset_ns: 0,
            ours: false,
            is_timeless: false,
        };
        let mut realtime_minus_monotonic_ns = None;
        let mut has_resolution = false;
        for option in body.options(8) {
            let Ok((code, value)) = option else {
                interface.is_timeless = !has_resolution;
                stats.count(
                    "malformed_interface",
                    Severity::Error,
                    "an interface's options contradict their lengths: where its resolution is unknown, its packets are not read",
                );
                break;
            };
            match code {
                IF_TSRESOL => {
                    has_resolution = true;
                    interface.resolve(value.u8(0).unwrap_or(6), stats);
                }
                IF_TSOFFSET => {
                    interface.offset_ns += i128::from(value.i64(0).unwrap_or(0)) * 1_000_000_000;
                }
                OPT_COMMENT => {
                    let text = value.text();
                    let told = CLOCK_OFFSETS
                        .iter()
                        .find_map(|name| text.strip_prefix(name));
                    if let Some(offset) = told {
                        realtime_minus_monotonic_ns = offset.trim().parse::<i64>().ok();
                    }
                }
                _ => {}
            }
        }
        if let Some(offset) = realtime_minus_monotonic_ns {
            interface.ours = true;
            interface.offset_ns -= i128::from(offset);
        } else {
            no_clock_offset(stats);
        }
        interface
    }

    /// `if_tsresol`: 10^−n s, or 2^−n s with the top bit set.
    fn resolve(&mut self, resolution: u8, stats: &mut Stats) {
        let base = if resolution & 0x80 == 0 { 10u128 } else { 2 };
        match base.checked_pow(u32::from(resolution & 0x7f)) {
            Some(per_second) if NANOSECONDS % per_second == 0 => {
                (self.numerator, self.denominator) = (NANOSECONDS / per_second, 1);
            }
            Some(per_second) => (self.numerator, self.denominator) = (NANOSECONDS, per_second),
            None => stats.count(
                "bad_resolution",
                Severity::Error,
                "an impossible if_tsresol: times are read as microseconds",
            ),
        }
    }

    /// True if its times are `CLOCK_MONOTONIC`.
    pub(super) fn knows_monotonic(&self) -> bool {
        self.ours
    }

    /// The step of its clock.
    pub(super) fn resolution_ns(&self) -> u64 {
        u64::try_from(self.numerator / self.denominator).map_or(u64::MAX, |ns| ns.max(1))
    }

    /// `None` if 64 bits cannot hold it.
    pub(super) fn time_ns(&self, ticks: u64) -> Option<i64> {
        let ns = u128::from(ticks) * self.numerator;
        let ns = match self.denominator {
            1 => ns,
            denominator => ns / denominator,
        };
        let ns = i128::try_from(ns).ok()?.checked_add(self.offset_ns)?;
        i64::try_from(ns).ok()
    }

    /// The packet log's index, which the link writes into the low half of `epb_packetid`.
    pub(super) fn packet_index(&self, packet_id: Option<u64>) -> Option<u32> {
        let index = u32::try_from(packet_id.filter(|_| self.ours)? & u64::from(u32::MAX)).ok()?;
        (index != OUTSIDE_MODEL).then_some(index)
    }
}

pub(super) fn no_clock_offset(stats: &mut Stats) {
    stats.count(
        "no_clock_offset",
        Severity::Notice,
        "the capture does not say how its clock relates to CLOCK_MONOTONIC: time_ns is CLOCK_REALTIME",
    );
}
