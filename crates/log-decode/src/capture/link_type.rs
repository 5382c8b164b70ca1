// SPDX-License-Identifier: Apache-2.0
//! Headers before the IP packet in a frame, by the registry of link types
//! (draft-ietf-opsawg-pcaplinktype).

use super::encapsulation::{behind_ethertype, behind_ppp_protocol, by_version, ppp, Inside, Rest};
use std::borrow::Cow;

/// The link layers that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkType {
    Ethernet,
    /// IP and nothing before it.
    Raw,
    /// Four bytes that name the address family, in the byte order of the machine that captured.
    Loopback,
    LinuxCooked,
    LinuxCooked2,
    /// RFC 1661, with or without the address and control fields of RFC 1662.
    Ppp,
    /// PPP or Cisco's framing (RFC 1547 section 4.3.1), told by the first byte.
    PppOrCiscoHdlc,
    /// A session's frames (RFC 2516 section 4).
    PppOverEthernet,
    Mpls,
    /// A link type that is not read, with its number.
    Unread(u16),
}

impl LinkType {
    pub(super) fn of(number: u16) -> Self {
        match number {
            0 | 108 => Self::Loopback,
            1 => Self::Ethernet,
            9 => Self::Ppp,
            // 12 and 14: raw IP where it was numbered by the system's own list.
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            50 | 104 => Self::PppOrCiscoHdlc,
            51 => Self::PppOverEthernet,
            113 => Self::LinuxCooked,
            219 => Self::Mpls,
            276 => Self::LinuxCooked2,
            other => Self::Unread(other),
        }
    }

    /// The IP packet in a frame, if it holds one.
    pub(super) fn network_layer(self, frame: &[u8]) -> Inside<'_> {
        let rest = Rest::of(frame);
        match self {
            Self::Raw => by_version(rest),
            Self::Loopback => rest.skip(4).map_or(Inside::Cut, by_version),
            Self::Ethernet => behind_ethertype(rest, 12, 14),
            Self::LinuxCooked => behind_ethertype(rest, 14, 16),
            Self::LinuxCooked2 => behind_ethertype(rest, 0, 20),
            Self::Ppp => ppp(rest),
            Self::PppOrCiscoHdlc => match frame.first() {
                // Unicast or broadcast, a control byte, and an `EtherType`.
                Some(0x0f | 0x8f) => behind_ethertype(rest, 2, 4),
                _ => ppp(rest),
            },
            Self::PppOverEthernet => rest.skip(6).map_or(Inside::Cut, behind_ppp_protocol),
            Self::Mpls => super::encapsulation::mpls(rest),
            Self::Unread(_) => Inside::Other,
        }
    }

    /// The way that a frame went, in the numbers of pcapng's `epb_flags`: 1 inbound, 2 outbound, 0 not told. Linux's
    /// cooked captures have it in every frame.
    pub(super) fn flags(self, frame: &[u8]) -> u32 {
        let kind = match self {
            Self::LinuxCooked => frame.get(1),
            Self::LinuxCooked2 => frame.get(10),
            _ => None,
        };
        match kind {
            Some(0) => 1,
            Some(4) => 2,
            _ => 0,
        }
    }

    /// The number of the interface that a frame was seen on, where it is told.
    pub(super) fn interface(self, frame: &[u8]) -> Option<u32> {
        let bytes = frame.get(4..8)?.try_into().ok()?;
        (self == Self::LinuxCooked2).then(|| u32::from_be_bytes(bytes))
    }

    /// Name of a link layer that is not read, in a finding.
    pub(super) fn unread(self) -> Option<Cow<'static, str>> {
        let Self::Unread(number) = self else {
            return None;
        };
        let name = match number {
            105 => "_ieee802_11",
            127 => "_ieee802_11_radiotap",
            192 => "_ppi",
            239 => "_nflog",
            _ => "",
        };
        Some(format!("unread_link_type:{number}{name}").into())
    }
}
