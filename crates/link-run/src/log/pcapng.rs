// SPDX-License-Identifier: Apache-2.0
//! pcapng blocks (draft-ietf-opsawg-pcapng): raw IP, nanoseconds, whole packets or their first bytes.

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const LINKTYPE_RAW: u32 = 101;

const OPTION_COMMENT: u16 = 1;
const OPTION_USER_APPLICATION: u16 = 4;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_TIME_RESOLUTION: u16 = 9;
const OPTION_FLAGS: u16 = 2;
const OPTION_PACKET_ID: u16 = 5;

/// Block header, fixed fields, flags, packet id, end of options, trailer: all but data and comment.
const PACKET_OVERHEAD: usize = 28 + 8 + 12 + 4 + 4;

/// The way a packet went, as the end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The packet arrived at this end.
    Inbound = 1,
    /// The packet left this end.
    Outbound = 2,
}

/// One packet of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// `CLOCK_REALTIME` nanoseconds.
    pub time_ns: u64,
    /// The way it went.
    pub way: Way,
    /// Number of the packet, as in the capture of the other end.
    pub id: Option<u64>,
    /// Reason why it did not reach the other end.
    pub comment: Option<&'a str>,
    /// The IP packet.
    pub data: &'a [u8],
}

/// The start of a file: section header and the first interface.
#[must_use]
pub fn file_header(interface: &str, realtime_minus_monotonic_ns: i64) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    block(&mut out, SECTION_HEADER, |out| {
        out.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        out.extend_from_slice(&[1, 0, 0, 0]);
        out.extend_from_slice(&u64::MAX.to_le_bytes());
        option(out, OPTION_USER_APPLICATION, b"quiclab-link");
        option(out, 0, &[]);
    });
    out.extend(interface_description(
        interface,
        realtime_minus_monotonic_ns,
    ));
    out
}

/// One interface; packets name it by its number, from 0.
#[must_use]
pub fn interface_description(interface: &str, realtime_minus_monotonic_ns: i64) -> Vec<u8> {
    let mut out = Vec::new();
    block(&mut out, INTERFACE_DESCRIPTION, |out| {
        out.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        option(out, OPTION_INTERFACE_NAME, interface.as_bytes());
        option(
            out,
            OPTION_COMMENT,
            format!("quiclab realtime_minus_monotonic_ns={realtime_minus_monotonic_ns}").as_bytes(),
        );
        option(out, OPTION_TIME_RESOLUTION, &[9]);
        option(out, 0, &[]);
    });
    out
}

impl Packet<'_> {
    /// Most bytes that its block takes, if so many bytes of the packet are kept.
    #[must_use]
    pub fn block_length(&self, snaplen: usize) -> usize {
        PACKET_OVERHEAD
            + padded(self.data.len().min(snaplen))
            + self.comment.map_or(0, |comment| 4 + padded(comment.len()))
    }

    /// Appends its block, as one of this interface, with so many bytes of the packet.
    pub fn write(&self, out: &mut Vec<u8>, snaplen: usize, interface: u32) {
        block(out, ENHANCED_PACKET, |out| {
            let kept = &self.data[..self.data.len().min(snaplen)];
            let time = self.time_ns.to_le_bytes();
            out.extend_from_slice(&interface.to_le_bytes());
            out.extend_from_slice(&time[4..]);
            out.extend_from_slice(&time[..4]);
            out.extend_from_slice(&length_u32(kept.len()).to_le_bytes());
            out.extend_from_slice(&length_u32(self.data.len()).to_le_bytes());
            out.extend_from_slice(kept);
            pad(out, kept.len());
            option(out, OPTION_FLAGS, &(self.way as u32).to_le_bytes());
            if let Some(id) = self.id {
                option(out, OPTION_PACKET_ID, &id.to_le_bytes());
            }
            if let Some(comment) = self.comment {
                option(out, OPTION_COMMENT, comment.as_bytes());
            }
            option(out, 0, &[]);
        });
    }
}

/// The instant of the packet block that bytes begin with.
#[must_use]
pub fn time_ns(bytes: &[u8]) -> u64 {
    u64::from(u32_at(bytes, 12)) << 32 | u64::from(u32_at(bytes, 16))
}

/// Length of the packet blocks that bytes begin with up to an instant, and of the first one in any case.
#[must_use]
pub fn length_until(bytes: &[u8], until_ns: u64) -> usize {
    let mut length = 0;
    while length < bytes.len() && (length == 0 || time_ns(&bytes[length..]) <= until_ns) {
        length += u32_at(bytes, length + 4) as usize;
    }
    length
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = length_u32(out.len() - start + 4).to_le_bytes();
    out.extend_from_slice(&length);
    out[start + 4..start + 8].copy_from_slice(&length);
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "texts and values of options are short"
)]
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(out, value.len());
}

fn pad(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&[0; 3][..padded(length) - length]);
}

fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "blocks hold one packet of at most 64 KiB"
)]
fn length_u32(length: usize) -> u32 {
    length as u32
}
