// SPDX-License-Identifier: Apache-2.0
//! Contents of a datagram (RFC 9000 sections 17 and 19), read where it is sent: its headers are not
//! protected.

use quinn_proto::coding::Codec;
use quinn_proto::VarInt;

use crate::quic::config::CID_BYTES;
use crate::quic::plain::TAG_BYTES;

const LONG: u8 = 0x80;

/// A packet-number space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 1-RTT packets.
    Data,
}

impl Space {
    /// The name of its packets in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Handshake => "handshake",
            Self::Data => "1RTT",
        }
    }
}

/// One frame, as far as it matters here.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Name in the tables.
    pub name: &'static str,
    /// Stream that it belongs to.
    pub stream: Option<u64>,
    /// Offset of its data.
    pub offset: Option<u64>,
    /// Length of its data, or of a run of padding.
    pub length: Option<u64>,
    /// True if it ends the stream.
    pub fin: bool,
    /// A limit.
    pub value: Option<u64>,
    /// Packets that it acknowledges: first and last of each range.
    pub ranges: Vec<(u64, u64)>,
}

/// One packet.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Packet-number space.
    pub space: Space,
    /// Packet number.
    pub number: u64,
    /// Length, header and tag included.
    pub length: u64,
    /// Frames in it, in order.
    pub frames: Vec<Frame>,
}

impl Packet {
    /// True if it counts as being in flight (RFC 9002 section 2).
    pub fn in_flight(&self) -> bool {
        self.frames.iter().any(|frame| frame.name != "ack")
    }
}

/// Reads the datagrams of one sender, whose packet numbers it follows.
#[derive(Default)]
pub struct Reader {
    next: [u64; 3],
}

impl Reader {
    /// The packets of a datagram. Panics where it is not what quinn writes.
    pub fn read(&mut self, datagram: &[u8]) -> Vec<Packet> {
        let mut packets = Vec::new();
        let mut rest = datagram;
        while !rest.is_empty() {
            let (packet, length) = self.packet(rest);
            packets.push(packet);
            rest = &rest[length..];
        }
        packets
    }

    fn packet(&mut self, bytes: &[u8]) -> (Packet, usize) {
        let first = bytes[0];
        let number_bytes = usize::from(first & 3) + 1;
        let (space, at, end) = if first & LONG == 0 {
            (Space::Data, 1 + CID_BYTES, bytes.len())
        } else {
            let initial = (first >> 4) % 4 == 0;
            let mut cursor = &bytes[5..];
            for _ in 0..2 {
                let length = usize::from(cursor[0]);
                cursor = &cursor[1 + length..];
            }
            if initial {
                let length = small(varint(&mut cursor));
                cursor = &cursor[length..];
            }
            let length = small(varint(&mut cursor));
            let at = bytes.len() - cursor.len();
            let space = if initial {
                Space::Initial
            } else {
                Space::Handshake
            };
            (space, at, at + length)
        };
        let told = bytes[at..at + number_bytes].iter();
        let told = told.fold(0, |number, byte| number << 8 | u64::from(*byte));
        let number = self.whole(space, told, number_bytes);
        let frames = frames(&bytes[at + number_bytes..end - TAG_BYTES]);
        let length = u64::try_from(end).expect("a datagram");
        (
            Packet {
                space,
                number,
                length,
                frames,
            },
            end,
        )
    }

    /// The whole number of a packet: numbers only grow, by less than the part that is told can hold.
    fn whole(&mut self, space: Space, told: u64, bytes: usize) -> u64 {
        let next = &mut self.next[space as usize];
        let span = 1 << (8 * bytes);
        let number = *next + (told + span - *next % span) % span;
        *next = number + 1;
        number
    }
}

fn small(number: u64) -> usize {
    usize::try_from(number).expect("a length within a datagram")
}

fn varint(cursor: &mut &[u8]) -> u64 {
    VarInt::decode(cursor)
        .expect("a varint that quinn wrote")
        .into_inner()
}

fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut found: Vec<Frame> = Vec::new();
    while !bytes.is_empty() {
        let frame = frame(&mut bytes);
        match found.last_mut() {
            Some(last) if last.name == "padding" && frame.name == "padding" => {
                last.length = last.length.map(|length| length + 1);
            }
            _ => found.push(frame),
        }
    }
    found
}

fn frame(bytes: &mut &[u8]) -> Frame {
    let kind = varint(bytes);
    let named = |name| Frame {
        name,
        ..Frame::default()
    };
    let mut numbers = |count: usize| -> Vec<u64> { (0..count).map(|_| varint(bytes)).collect() };
    match kind {
        0x00 => Frame {
            length: Some(1),
            ..named("padding")
        },
        0x01 => named("ping"),
        0x02 | 0x03 => acknowledged(bytes, kind == 0x03),
        0x06 => {
            let told = numbers(2);
            *bytes = &bytes[small(told[1])..];
            Frame {
                offset: Some(told[0]),
                length: Some(told[1]),
                ..named("crypto")
            }
        }
        0x08..=0x0f => data(bytes, kind),
        0x10 => Frame {
            value: Some(numbers(1)[0]),
            ..named("max_data")
        },
        0x11 => {
            let told = numbers(2);
            Frame {
                stream: Some(told[0]),
                value: Some(told[1]),
                ..named("max_stream_data")
            }
        }
        0x12 | 0x13 => Frame {
            value: Some(numbers(1)[0]),
            ..named("max_streams")
        },
        0x14 => Frame {
            value: Some(numbers(1)[0]),
            ..named("data_blocked")
        },
        0x15 => {
            let told = numbers(2);
            Frame {
                stream: Some(told[0]),
                value: Some(told[1]),
                ..named("stream_data_blocked")
            }
        }
        0x18 => {
            numbers(2);
            *bytes = &bytes[1 + usize::from(bytes[0]) + 16..];
            named("new_connection_id")
        }
        0x19 => {
            numbers(1);
            named("retire_connection_id")
        }
        0x1e => named("handshake_done"),
        0x1f => named("immediate_ack"),
        other => panic!("a frame of type {other:#x}, which no download needs"),
    }
}

fn acknowledged(bytes: &mut &[u8], ecn: bool) -> Frame {
    let largest = varint(bytes);
    let _delay = varint(bytes);
    let more = varint(bytes);
    let mut last = largest;
    let mut first = last - varint(bytes);
    let mut ranges = vec![(first, last)];
    for _ in 0..more {
        last = first - varint(bytes) - 2;
        first = last - varint(bytes);
        ranges.push((first, last));
    }
    if ecn {
        for _ in 0..3 {
            varint(bytes);
        }
    }
    Frame {
        name: "ack",
        ranges,
        ..Frame::default()
    }
}

fn data(bytes: &mut &[u8], kind: u64) -> Frame {
    let stream = varint(bytes);
    let offset = if kind & 4 == 0 { 0 } else { varint(bytes) };
    let length = if kind & 2 == 0 {
        u64::try_from(bytes.len()).expect("a datagram")
    } else {
        varint(bytes)
    };
    *bytes = &bytes[small(length)..];
    Frame {
        name: "stream",
        stream: Some(stream),
        offset: Some(offset),
        length: Some(length),
        fin: kind & 1 == 1,
        ..Frame::default()
    }
}
