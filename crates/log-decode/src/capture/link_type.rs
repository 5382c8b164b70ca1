// SPDX-License-Identifier: Apache-2.0
//! What stands before the IP packet in a frame, by the registry of link types (draft-ietf-opsawg-pcaplinktype).

/// The link layers that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkType {
    Ethernet,
    /// IP and nothing before it.
    Raw,
    /// Four bytes that name the address family, in the byte order of whoever captured.
    Loopback,
    LinuxCooked,
    LinuxCooked2,
    Unknown,
}

impl LinkType {
    pub(super) fn of(number: u16) -> Self {
        match number {
            0 | 108 => Self::Loopback,
            1 => Self::Ethernet,
            // 12 and 14: raw IP where it was numbered by the system's own list.
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            113 => Self::LinuxCooked,
            276 => Self::LinuxCooked2,
            _ => Self::Unknown,
        }
    }

    /// The IP packet in a frame, and the length of the link-layer header before it; `None` if it holds none.
    pub(super) fn network_layer(self, frame: &[u8]) -> Option<(&[u8], u32)> {
        let (header, protocol_at) = match self {
            Self::Raw => (0, None),
            Self::Loopback => (4, None),
            Self::Ethernet => {
                // 802.1Q and 802.1ad tags, at most two.
                let tagged = |at: usize| matches!(u16_at(frame, at), Some(0x8100 | 0x88a8));
                let tags = usize::from(tagged(12)) + usize::from(tagged(12) && tagged(16));
                (14 + 4 * tags, Some(12 + 4 * tags))
            }
            Self::LinuxCooked => (16, Some(14)),
            Self::LinuxCooked2 => (20, Some(0)),
            Self::Unknown => return None,
        };
        let packet = frame.get(header..)?;
        let ip = match protocol_at {
            Some(at) => matches!(u16_at(frame, at), Some(0x0800 | 0x86dd)),
            None => matches!(packet.first()? >> 4, 4 | 6),
        };
        ip.then_some((packet, u32::try_from(header).ok()?))
    }
}

fn u16_at(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?))
}
