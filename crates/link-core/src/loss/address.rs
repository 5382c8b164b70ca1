// SPDX-License-Identifier: Apache-2.0
//! Packets that are addressed by what a link can see of them without keys.

use crate::packet::{Content, Packet};

/// Kind of an address: that by which a packet is counted, among the packets of its direction that
/// come to the loss stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// The packet's number in the direction, from 0; all others count from 1.
    Packet,
    /// Packets of data by their size ([`Packet::LARGE`]).
    Large,
    /// Bytes of IP packets: the packet that holds this byte.
    Byte,
    /// Datagrams that begin with an Initial packet of QUIC.
    Initial,
    /// Datagrams that begin with a Handshake packet of QUIC.
    Handshake,
    /// SYN and SYN-ACK of TCP.
    Syn,
    /// Segments of TCP with data.
    Segment,
}

impl AddressKind {
    const COUNT: usize = 7;
}

/// One packet of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Kind that is counted.
    pub kind: AddressKind,
    /// The number of the one that is meant.
    pub number: u64,
}

/// Outcome of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The address.
    pub address: Address,
    /// Number of the packet that it met; `None` while no such packet came.
    pub packet: Option<u32>,
    /// True if this changed what became of that packet.
    pub mattered: bool,
}

/// Addresses, and the packets that they met.
#[derive(Clone, Debug)]
pub(super) struct Addressed {
    answers: Vec<Answer>,
    /// Places among the answers, by kind and then by number.
    sorted: [Vec<usize>; AddressKind::COUNT],
    counts: [u64; AddressKind::COUNT],
}

impl Addressed {
    pub(super) fn new(addresses: &[Address]) -> Self {
        let mut sorted: [Vec<usize>; AddressKind::COUNT] = Default::default();
        for (place, address) in addresses.iter().enumerate() {
            sorted[address.kind as usize].push(place);
        }
        for places in &mut sorted {
            places.sort_by_key(|&place| addresses[place].number);
        }
        Self {
            answers: addresses
                .iter()
                .map(|&address| Answer {
                    address,
                    packet: None,
                    mattered: false,
                })
                .collect(),
            sorted,
            counts: [0; AddressKind::COUNT],
        }
    }

    pub(super) fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// Counts a packet: whether it is one of those. `matters` is whether that changes anything for it.
    pub(super) fn meets(&mut self, index: u32, packet: &Packet, matters: bool) -> bool {
        if self.answers.is_empty() {
            return false;
        }
        let index_ends = u64::from(index) + 1;
        let mut met = self.meet(
            AddressKind::Packet,
            u64::from(index)..index_ends,
            index,
            matters,
        );
        let (syn, payload) = match packet.content {
            Content::Segment { syn, payload } => (syn, payload),
            _ => (false, false),
        };
        for (kind, count) in [
            (AddressKind::Byte, packet.size.0),
            (AddressKind::Large, packet.is_large().into()),
            (
                AddressKind::Initial,
                (packet.content == Content::Initial).into(),
            ),
            (
                AddressKind::Handshake,
                (packet.content == Content::Handshake).into(),
            ),
            (AddressKind::Syn, syn.into()),
            (AddressKind::Segment, payload.into()),
        ] {
            let first = self.counts[kind as usize] + 1;
            self.counts[kind as usize] += count;
            met |= self.meet(kind, first..first + count, index, matters);
        }
        met
    }

    /// True if any address of a kind is among these numbers; it is answered.
    fn meet(
        &mut self,
        kind: AddressKind,
        numbers: std::ops::Range<u64>,
        index: u32,
        matters: bool,
    ) -> bool {
        let places = &self.sorted[kind as usize];
        let from =
            places.partition_point(|&place| self.answers[place].address.number < numbers.start);
        let met = &places[from..];
        let answers = &mut self.answers;
        let mut any = false;
        for &place in met {
            if answers[place].address.number >= numbers.end {
                break;
            }
            answers[place].packet = Some(index);
            answers[place].mattered = matters;
            any = true;
        }
        any
    }
}
