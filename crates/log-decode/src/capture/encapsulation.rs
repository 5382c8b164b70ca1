// SPDX-License-Identifier: Apache-2.0
//! Headers between the link layer and IP: tags of VLANs, PPP, `PPPoE` and MPLS, one inside the other as often as
//! frames have them.

/// Headers followed before giving up: two tags, `PPPoE` and PPP are four.
const MAX_HEADERS: usize = 8;

const VLAN_TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_DISCOVERY: u16 = 0x8863;
const PPPOE_SESSION: u16 = 0x8864;
/// Types that may hold IP and are not looked into: 802.1AE, 802.1ah, TRILL, NSH.
const OPAQUE: [u16; 4] = [0x88e5, 0x88e7, 0x22f3, 0x894f];

/// Content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside<'a> {
    /// An IP packet, and the length of all headers before it.
    Ip(&'a [u8], u32),
    /// Another protocol.
    Other,
    /// Perhaps IP, within a header that is not read: the `EtherType`, or PPP's protocol.
    Hidden(u16),
    /// Too little to tell.
    Cut,
}

/// Bytes that are left of a frame.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    bytes: &'a [u8],
    /// Bytes before it that are taken.
    taken: usize,
}

impl<'a> Rest<'a> {
    pub(super) fn of(frame: &'a [u8]) -> Self {
        Self {
            bytes: frame,
            taken: 0,
        }
    }

    pub(super) fn skip(self, bytes: usize) -> Option<Self> {
        Some(Self {
            bytes: self.bytes.get(bytes..)?,
            taken: self.taken + bytes,
        })
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn u16(self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(
            self.bytes.get(at..at + 2)?.try_into().ok()?,
        ))
    }

    fn ip(self) -> Inside<'a> {
        u32::try_from(self.taken).map_or(Inside::Cut, |taken| Inside::Ip(self.bytes, taken))
    }
}

/// IP of the version that its first byte says.
pub(super) fn by_version(rest: Rest<'_>) -> Inside<'_> {
    match rest.bytes.first().map(|first| first >> 4) {
        Some(4 | 6) => rest.ip(),
        Some(_) => Inside::Other,
        None => Inside::Cut,
    }
}

/// Content behind a header of `length` bytes whose `EtherType` stands at `at`.
pub(super) fn behind_ethertype(rest: Rest<'_>, at: usize, length: usize) -> Inside<'_> {
    let found = || {
        let (mut kind, mut rest) = (rest.u16(at)?, rest.skip(length)?);
        for _ in 0..MAX_HEADERS {
            if !VLAN_TAGS.contains(&kind) {
                break;
            }
            (kind, rest) = (rest.u16(2)?, rest.skip(4)?);
        }
        Some(match kind {
            IPV4 | IPV6 => rest.ip(),
            PPPOE_SESSION => behind_ppp_protocol(rest.skip(6)?),
            PPPOE_DISCOVERY => Inside::Other,
            kind if MPLS.contains(&kind) => mpls(rest),
            kind if OPAQUE.contains(&kind) || VLAN_TAGS.contains(&kind) => Inside::Hidden(kind),
            _ => Inside::Other,
        })
    };
    found().unwrap_or(Inside::Cut)
}

/// A stack of labels (RFC 3032 section 2.1); what stands behind it says only itself what it is.
pub(super) fn mpls(mut rest: Rest<'_>) -> Inside<'_> {
    for _ in 0..MAX_HEADERS {
        let Some(last) = rest.bytes.get(2).map(|byte| byte & 1 != 0) else {
            return Inside::Cut;
        };
        let Some(behind) = rest.skip(4) else {
            return Inside::Cut;
        };
        rest = behind;
        if last {
            return match by_version(rest) {
                // A pseudowire: a control word, or a frame of another link layer.
                Inside::Other => Inside::Hidden(MPLS[0]),
                inside => inside,
            };
        }
    }
    Inside::Hidden(MPLS[0])
}

/// PPP, with the address and control fields of RFC 1662 section 3.1 or without.
pub(super) fn ppp(rest: Rest<'_>) -> Inside<'_> {
    let rest = match rest.bytes {
        [0xff, 3, ..] => rest.skip(2).unwrap_or(rest),
        _ => rest,
    };
    behind_ppp_protocol(rest)
}

/// Content by PPP's protocol field, which may be compressed to one byte (RFC 1661 section 2).
pub(super) fn behind_ppp_protocol(rest: Rest<'_>) -> Inside<'_> {
    let found = || {
        let first = *rest.bytes.first()?;
        let (protocol, rest) = if first & 1 == 1 {
            (u16::from(first), rest.skip(1)?)
        } else {
            (rest.u16(0)?, rest.skip(2)?)
        };
        Some(match protocol {
            0x0021 | 0x0057 => rest.ip(),
            0x0281 | 0x0283 => mpls(rest),
            // Multilink fragments, compressed and encrypted datagrams, compressed TCP headers.
            0x003d | 0x00fd | 0x0053 | 0x002d | 0x002f => Inside::Hidden(protocol),
            _ => Inside::Other,
        })
    };
    found().unwrap_or(Inside::Cut)
}

#[cfg(test)]
mod tests {
    use super::super::link_type::LinkType;
    use super::*;

    const IP: [u8; 4] = [0x45, 1, 2, 3];

    fn inside(link: u16, header: &[u8]) -> (usize, bool) {
        let frame = [header, &IP].concat();
        match LinkType::of(link).network_layer(&frame) {
            Inside::Ip(packet, before) => (before as usize, packet == IP),
            _ => (0, false),
        }
    }

    /// Every header, and several inside each other, is taken off whole.
    #[test]
    fn ip_is_found_behind_every_header() {
        let ethernet = [0; 12];
        let tagged = |kinds: &[u8]| [&ethernet, kinds].concat();
        let frames: [(u16, Vec<u8>); 18] = [
            (101, vec![]),
            (0, vec![2, 0, 0, 0]),
            (1, tagged(&[8, 0])),
            (1, tagged(&[0x81, 0, 0, 7, 8, 0])),
            (1, tagged(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 7, 8, 0])),
            (
                1,
                tagged(&[0x91, 0, 0, 1, 0x91, 0, 0, 1, 0x81, 0, 0, 7, 8, 0]),
            ),
            (1, tagged(&[0x88, 0x47, 0, 1, 0x01, 64])),
            (
                1,
                tagged(&[0x81, 0, 0, 7, 0x88, 0x47, 0, 1, 0, 64, 0, 1, 1, 64]),
            ),
            (1, tagged(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 6, 0, 0x21])),
            (113, [&[0; 14][..], &[0x81, 0, 0, 7, 8, 0]].concat()),
            (276, [&[8, 0][..], &[0; 18]].concat()),
            (9, vec![0xff, 3, 0, 0x21]),
            (9, vec![0, 0x21]),
            (9, vec![0x21]),
            (9, vec![2, 0x81, 0, 0, 1, 0]),
            (50, vec![0xff, 3, 0, 0x57]),
            (104, vec![0x0f, 0, 8, 0]),
            (51, vec![0x11, 0, 0, 1, 0, 6, 0, 0x21]),
        ];
        for (link, header) in &frames {
            assert_eq!(
                inside(*link, header),
                (header.len(), true),
                "{link} {header:x?}"
            );
        }
        assert_eq!(inside(219, &[0, 1, 1, 64]), (4, true));
    }

    /// Frames that may hold IP are told apart from those that do not, and from those that were cut.
    #[test]
    fn what_is_not_looked_into_is_told() {
        let ethernet = |kind: [u8; 2], behind: &[u8]| [&[0; 12][..], &kind, behind].concat();
        for (link, frame, expected) in [
            (1, ethernet([8, 6], &[0; 28]), Inside::Other),
            (1, ethernet([0x88, 0x63], &[0; 28]), Inside::Other),
            (1, ethernet([0x88, 0xe5], &[0; 28]), Inside::Hidden(0x88e5)),
            (
                1,
                ethernet([0x88, 0x47], &[0, 0, 1, 0, 0]),
                Inside::Hidden(0x8847),
            ),
            (1, ethernet([0x88, 0x47], &[0; 64]), Inside::Hidden(0x8847)),
            (1, [0x81, 0, 0, 1].repeat(12), Inside::Hidden(0x8100)),
            (1, vec![0; 13], Inside::Cut),
            (1, ethernet([0x81, 0], &[0; 2]), Inside::Cut),
            (9, vec![0xc0, 0x21, 1], Inside::Other),
            (9, vec![0xff, 3], Inside::Cut),
            (9, vec![0, 0x3d, 1], Inside::Hidden(0x3d)),
            (101, vec![], Inside::Cut),
            (147, vec![0x45], Inside::Other),
        ] {
            assert_eq!(
                LinkType::of(link).network_layer(&frame),
                expected,
                "{frame:x?}"
            );
        }
    }
}
