// SPDX-License-Identifier: Apache-2.0
//! Records of a capture that hold several datagrams: what a sender hands to its network card in one piece (UDP
//! segmentation offload), and what a receiver's puts together (UDP receive offload).
//!
//! All datagrams of such a record have one size, but the last, which may be shorter. A packet with a short header does
//! not say where it ends, so the size is found by what cannot be chance: the same connection id at all multiples of it, or
//! keys that open the packet when it ends there. Where neither is to be had, the record is left whole and told.

use super::directory::{Candidate, Path};
use super::hashing::HashMap;
use super::keyring::Opening;
use super::{Connections, UdpDatagram};
use crate::tables::Tables;
use crate::Severity;

/// The shortest packet that receivers take (RFC 9001 section 5.4.2, RFC 9000 section 10.3).
const MIN_PACKET_BYTES: usize = 21;
/// Most bytes of a datagram where nobody has set up larger frames.
const MAX_USUAL_BYTES: usize = 1472;
/// Most bytes of a datagram in jumbo frames.
const MAX_SEGMENT_BYTES: usize = 9_216;
/// Connection ids that are compared: shorter ones may come again by chance.
const MIN_ID_BYTES: usize = 4;
/// Bytes that are compared where the length of the connection id is not known.
const BLIND_ID_BYTES: usize = 6;
/// Sizes that most programs take, before and after discovery of the path's.
const USUAL_SIZES: [usize; 10] = [1200, 1252, 1350, 1452, 1472, 1232, 1250, 1280, 1400, 1440];
/// Bytes that may be decrypted in vain for a whole capture, looking for ends: below two seconds.
const MAX_TRIED_BYTES: usize = 1 << 30;
/// Paths whose sizes are remembered.
const MAX_PATHS: usize = 1 << 12;
/// Datagrams of a record before the first packet with a short header.
const MAX_BEFORE: usize = 8;

/// Sizes of the datagrams that records hold.
#[derive(Default)]
pub(super) struct Segments {
    /// The size in the record at hand, once it has been found.
    pub(super) size: Option<usize>,
    by_path: HashMap<Path, usize>,
    tried_bytes: usize,
}

impl Segments {
    /// A record begins.
    pub(super) fn start(&mut self, record: &UdpDatagram<'_>) {
        self.size = None;
        if record.is_cut() && record.length_bytes > MAX_USUAL_BYTES {
            self.size = self.by_path.get(&record.path()).copied();
        }
    }

    /// The datagram at `offset` of a record, from the record's start on.
    pub(super) fn part<'a>(&self, record: &UdpDatagram<'a>, offset: usize) -> UdpDatagram<'a> {
        let Some(size) = self.size else {
            return *record;
        };
        let end = record
            .length_bytes
            .min((offset / size + 1).saturating_mul(size));
        let captured = end.min(record.payload.len());
        UdpDatagram {
            payload: record.payload.get(..captured).unwrap_or_default(),
            length_bytes: end,
            ..*record
        }
    }

    fn found(&mut self, path: Path, size: usize, tables: &mut Tables) {
        self.size = Some(size);
        if self.by_path.len() < MAX_PATHS || self.by_path.contains_key(&path) {
            self.by_path.insert(path, size);
        }
        tables.count(
            "segmented_datagram",
            Severity::Info,
            "records that hold several datagrams, as offloading to a network card (GSO, GRO) makes them: taken apart",
        );
    }
}

impl Connections {
    /// Find out where the packet with a short header at `offset` ends that does not open to the end of its record;
    /// true if that is before it. `owner` is the connection that it belongs to, `has_keys` tells that there are any.
    pub(super) fn find_segments(
        &mut self,
        record: &UdpDatagram<'_>,
        offset: usize,
        owner: Option<Candidate>,
        has_keys: bool,
        tables: &mut Tables,
    ) -> bool {
        let length = record.payload.len();
        let is_long_enough = length >= offset + 2 * MIN_PACKET_BYTES;
        let is_quic = owner.is_some() || record.is_https();
        if record.is_alone {
            return false;
        }
        if self.segments.size.is_some() || !is_long_enough || !is_quic {
            return false;
        }
        let size = by_connection_id(record.payload, offset, owner.map(|owner| owner.id_bytes));
        let size = size.or_else(|| {
            let owner = owner.filter(|_| has_keys && !record.is_cut())?;
            self.by_keys(record, offset, owner)
        });
        if let Some(size) = size {
            self.segments.found(record.path(), size, tables);
            return true;
        }
        if record.length_bytes - offset > MAX_USUAL_BYTES {
            tables.count(
                "unsplit_datagram",
                Severity::DataLoss,
                "records longer than usual datagrams, in which nothing shows where one ends: if a network card put them together (GSO, GRO), each counts as one packet",
            );
        }
        false
    }

    /// The size at which the packet ends that keys open.
    fn by_keys(
        &mut self,
        record: &UdpDatagram<'_>,
        offset: usize,
        owner: Candidate,
    ) -> Option<usize> {
        let Candidate {
            index,
            way,
            id_bytes,
        } = owner;
        let first = offset + MIN_PACKET_BYTES;
        let last = (record.payload.len() - MIN_PACKET_BYTES).min(offset + MAX_SEGMENT_BYTES);
        let known = self.segments.by_path.get(&record.path()).copied();
        let likely = known.into_iter().chain(USUAL_SIZES);
        let ends = likely.filter(|end| (first..=last).contains(end));
        for end in ends.chain((first..=last).rev()) {
            let packet = record.payload.get(offset..end)?;
            self.segments.tried_bytes += packet.len();
            if self.segments.tried_bytes > MAX_TRIED_BYTES {
                return None;
            }
            let connection = self.directory.get(index)?;
            let opening = connection.open_short(packet, id_bytes, way, &mut self.buffer);
            if matches!(opening, Opening::Opened { .. }) {
                return Some(end);
            }
        }
        None
    }

    /// Datagrams of a record behind the part of it that was captured: that there were such, and their lengths, is known.
    pub(super) fn uncaptured_segments(&mut self, record: &UdpDatagram<'_>, tables: &mut Tables) {
        let Some(size) = self.segments.size.filter(|_| record.is_cut()) else {
            return;
        };
        let owner = self.directory.by_path(record.path()).iter().next();
        let mut at = record.payload.len().max(1).next_multiple_of(size);
        while at < record.length_bytes {
            let length = size.min(record.length_bytes - at);
            self.unopened(record, owner, Some("1RTT"), length, tables);
            super::unopened::count(None, true, false, tables);
            at += size;
        }
    }
}

/// A size with the connection id of the packet at `offset` at all of its multiples.
fn by_connection_id(payload: &[u8], offset: usize, id_bytes: Option<usize>) -> Option<usize> {
    let id_bytes = id_bytes.unwrap_or(BLIND_ID_BYTES);
    let id = payload.get(offset + 1..)?.get(..id_bytes)?;
    if id_bytes < MIN_ID_BYTES || id.iter().all(|byte| Some(byte) == id.first()) {
        return None;
    }
    let begins = |at: usize| {
        let rest = payload.get(at..).unwrap_or_default();
        let is_short = rest.first().is_some_and(|first| first & 0xc0 == 0x40);
        rest.len() >= MIN_PACKET_BYTES && is_short && rest.get(1..=id_bytes) == Some(id)
    };
    let first = offset + MIN_PACKET_BYTES;
    let behind = payload.get(first + 1..)?;
    for found in memchr::memmem::find_iter(behind, id) {
        let border = first + found;
        if !begins(border) {
            continue;
        }
        // The border is that of the first datagram, or of a later one where others of the record have long headers.
        for before in 0..MAX_BEFORE {
            let size = border / (before + 1);
            let is_border = size * (before + 1) == border && size * before <= offset;
            let mut later = (before + 2..).map(|number| size.saturating_mul(number));
            if is_border
                && size >= MIN_PACKET_BYTES
                && later
                    .by_ref()
                    .take_while(|at| *at < payload.len())
                    .all(begins)
            {
                return Some(size);
            }
        }
    }
    None
}
