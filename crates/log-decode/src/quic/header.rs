// SPDX-License-Identifier: Apache-2.0
//! Packet headers as far as they can be read without keys: RFC 8999, RFC 9000 section 17, RFC 9369 section 3.

use super::wire::{varint, varint_vector, ConnectionId};
use crate::tls::Reader;

/// A version whose packets can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
    /// The drafts from 29 to 34 of version 1, which differ from it in what Initial packets are protected by alone.
    Draft(u8),
}

impl Version {
    fn of(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            0x6b33_43cf => Some(Self::V2),
            0xff00_001d..=0xff00_0022 => u8::try_from(number & 0xff).ok().map(Self::Draft),
            _ => None,
        }
    }

    /// The version as qlog writes it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "00000001",
            Self::V2 => "6b3343cf",
            Self::Draft(29) => "ff00001d",
            Self::Draft(30) => "ff00001e",
            Self::Draft(31) => "ff00001f",
            Self::Draft(32) => "ff000020",
            Self::Draft(33) => "ff000021",
            Self::Draft(_) => "ff000022",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Initial,
    ZeroRtt,
    Handshake,
    Retry,
}

impl Kind {
    /// The name in the column `packet_type`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::ZeroRtt => "0RTT",
            Self::Handshake => "handshake",
            Self::Retry => "retry",
        }
    }
}

/// A packet with a long header of a known version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long<'a> {
    pub(super) version: Version,
    pub(super) kind: Kind,
    pub(super) dcid: ConnectionId,
    pub(super) scid: ConnectionId,
    /// The token of an Initial; a Retry's with the integrity tag behind it.
    pub(super) token: &'a [u8],
    /// Offset of the protected packet number.
    pub(super) number_at: usize,
    /// Offset of the packet's end: beyond the bytes at hand if the capture cut it.
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Header<'a> {
    Long(Long<'a>),
    VersionNegotiation {
        dcid: ConnectionId,
        scid: ConnectionId,
        versions: &'a [u8],
    },
    /// Only what RFC 8999 says of every version can be told.
    OtherVersion {
        version: u32,
        dcid: ConnectionId,
    },
    Short,
}

impl<'a> Header<'a> {
    /// Read the header of the packet at the start of `bytes`; `None` if that is no QUIC packet.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let first = reader.u8()?;
        if first & 0x80 == 0 {
            return Some(Self::Short);
        }
        let version = reader.u32()?;
        let dcid = ConnectionId::new(reader.vector(1)?.rest())?;
        let scid = ConnectionId::new(reader.vector(1)?.rest())?;
        if version == 0 {
            return Some(Self::VersionNegotiation {
                dcid,
                scid,
                versions: reader.rest(),
            });
        }
        let Some(version) = Version::of(version) else {
            return Some(Self::OtherVersion { version, dcid });
        };
        // Version 2 counts from one on, and Retry is what is left (RFC 9369 section 3.2).
        let type_bits = match version {
            Version::V2 => (first >> 4).wrapping_sub(1) & 3,
            Version::V1 | Version::Draft(_) => first >> 4 & 3,
        };
        let kind = match type_bits {
            0 => Kind::Initial,
            1 => Kind::ZeroRtt,
            2 => Kind::Handshake,
            _ => Kind::Retry,
        };
        let mut long = Long {
            version,
            kind,
            dcid,
            scid,
            token: &[],
            number_at: 0,
            end: bytes.len(),
        };
        if kind == Kind::Retry {
            long.token = reader.rest();
            return Some(Self::Long(long));
        }
        if kind == Kind::Initial {
            long.token = varint_vector(&mut reader)?;
        }
        let length = usize::try_from(varint(&mut reader)?).ok()?;
        long.number_at = bytes.len() - reader.rest().len();
        long.end = long.number_at.checked_add(length)?;
        Some(Self::Long(long))
    }
}
