// SPDX-License-Identifier: Apache-2.0
//! Segments that are not of the connection between their ports: they answer, or belong to, one before it (RFC 9293
//! sections 3.10.7.3 and 3.5.2, RFC 5961), and their numbers must not be taken for its own.

use super::segment::{Segment, RST, SYN};
use super::way::Way;

/// Most distance between numbers of one connection: the largest window there can be (RFC 7323
/// section 2.3).
const FAR: i64 = 1 << 30;
/// Distance beyond what was seen at which numbers may lie before much has been seen: packets that
/// the capture missed.
const MISSED: i64 = 1 << 20;
/// Age that a reset may have.
const LATE: i64 = 1 << 26;

/// True if `segment`, which goes `way`, is of another connection than that of both ways.
pub(super) fn is_stray(segment: &Segment<'_>, way: &Way, back: &Way) -> bool {
    let is_far = |way: &Way, seq: u32| way.distance(seq).is_some_and(|far| far.abs() > FAR);
    if segment.has(SYN) {
        return way.has_begun_otherwise(segment.seq);
    }
    // Nothing has answered the SYN yet: what does acknowledges it.
    if way.is_unseen() && back.has_begun() {
        let acknowledged = segment.ack.and_then(|ack| back.distance(ack));
        return !acknowledged
            .is_some_and(|beyond| beyond <= MISSED && !back.is_before_start(beyond));
    }
    if segment.has(RST) {
        let distance = way.distance(segment.seq).unwrap_or(0);
        return !(-LATE..=MISSED).contains(&distance);
    }
    // A capture that lacks one way shows acknowledgments of ever more that it does not have.
    let is_next = way.distance(segment.seq) == Some(0);
    let acknowledges_far = segment.ack.is_some_and(|ack| is_far(back, ack));
    is_far(way, segment.seq) || !is_next && acknowledges_far
}
