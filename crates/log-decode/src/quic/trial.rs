// SPDX-License-Identifier: Apache-2.0
//! One secret held against a packet whose connection and whole packet number are not known.

use super::header::Version;
use super::keyring::{open_payload, unprotect, Sealed};
use super::protection::PacketKeys;
use crate::tls::keylog::Secret;
use crate::tls::suite::Suite;
use crate::Direction;

/// Number of values that are tried for the bytes of a packet number that were not sent, where
/// between one and four were sent.
pub(super) type Reach = [u64; 4];
/// The reach for one secret among many.
pub(super) const NEAR: Reach = [4, 4, 1, 1];
/// The reach for one secret among few.
pub(super) const FAR: Reach = [64, 64, 8, 2];

/// A secret that may open a packet about which nothing else is known.
pub(super) struct Trial(PacketKeys);

impl Trial {
    pub(super) fn new(suite: u16, version: Version, secret: &Secret) -> Option<Self> {
        PacketKeys::new(Suite::of(suite)?, version, secret).map(Self)
    }

    /// The packet's number, if the secret opens it.
    pub(super) fn number(
        &self,
        packet: &[u8],
        number_at: usize,
        reach: Reach,
        buffer: &mut Vec<u8>,
    ) -> Option<u64> {
        let sealed = Sealed {
            bytes: packet,
            number_at,
            direction: Direction::Up,
            largest: None,
        };
        let mut header = unprotect(&self.0.header, sealed, buffer)?;
        // RFC 9000 section 17.3.1: these bits are zero under the protection.
        if header.first & 0x18 != 0 {
            return None;
        }
        let bytes = usize::from(header.first & 3);
        let payload = packet.get(header.payload_at..)?;
        for above in 0..*reach.get(bytes)? {
            if above > 0 {
                header.number = header.number.checked_add(1 << (8 * (bytes + 1)))?;
                buffer
                    .get_mut(header.payload_at..)?
                    .copy_from_slice(payload);
            }
            if open_payload(&self.0.payload, header, buffer).is_some() {
                return Some(header.number);
            }
        }
        None
    }
}
