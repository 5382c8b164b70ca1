// SPDX-License-Identifier: Apache-2.0
//! Opening the packets of a connection: keys, and the packet numbers that are expected.

use super::{space_of, Connection};
use crate::quic::handshake::Space;
use crate::quic::header::{Kind, Long};
use crate::quic::keyring::{Opening, Sealed};
use crate::quic::trial::FAR;
use crate::Direction;

/// Packets of a late connection whose numbers are searched for, each way.
const MAX_SEARCHES: u8 = 16;

impl Connection {
    fn sealed<'b>(
        &self,
        bytes: &'b [u8],
        number_at: usize,
        way: Direction,
        space: Space,
    ) -> Sealed<'b> {
        Sealed {
            bytes,
            number_at,
            direction: way,
            largest: self.numbers[space as usize][way as usize].largest(),
        }
    }

    /// Open a packet with a long header into `buffer`; `bytes` end where it ends.
    pub(in crate::quic) fn open_long(
        &mut self,
        long: &Long<'_>,
        bytes: &[u8],
        way: Direction,
        buffer: &mut Vec<u8>,
    ) -> Opening {
        if long.kind == Kind::Initial {
            // Another version than the client's first: compatible version negotiation (RFC 9368 section 2.3).
            self.keyring.add_initial(long.version, &self.original_dcid);
        }
        let sealed = self.sealed(bytes, long.number_at, way, space_of(long.kind));
        self.keyring.open_long(long, sealed, buffer)
    }

    /// Open a packet with a short header into `buffer`.
    pub(in crate::quic) fn open_short(
        &mut self,
        bytes: &[u8],
        id_bytes: usize,
        way: Direction,
        buffer: &mut Vec<u8>,
    ) -> Opening {
        let sealed = self.sealed(bytes, 1 + id_bytes, way, Space::Application);
        self.keyring.open_short(self.version, sealed, buffer)
    }

    /// The length of the connection id in a packet that goes `way`, where neither that nor its number can be told
    /// because the start is not in the capture.
    pub(in crate::quic) fn find_late(
        &mut self,
        packet: &[u8],
        way: Direction,
        lengths: &[usize],
        buffer: &mut Vec<u8>,
    ) -> Option<usize> {
        let largest = self.numbers[Space::Application as usize][way as usize].largest();
        let searches = &mut self.searches[way as usize];
        if !self.is_late || largest.is_some() || *searches >= MAX_SEARCHES {
            return None;
        }
        *searches += 1;
        let trial = self.keyring.trial(self.version, way)?;
        let (id_bytes, number) = lengths.iter().find_map(|&id_bytes| {
            let number = trial.number(packet, 1 + id_bytes, FAR, buffer)?;
            Some((id_bytes, number))
        })?;
        self.expect_number(way, number);
        Some(id_bytes)
    }
}
