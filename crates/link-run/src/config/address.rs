// SPDX-License-Identifier: Apache-2.0
//! Packets that are addressed by what they are, in the configuration file.

use link_core::{Address, AddressKind};
use serde::Deserialize;

/// Numbers of packets by what is counted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Addresses {
    packet: Vec<u64>,
    large: Vec<u64>,
    byte: Vec<u64>,
    initial: Vec<u64>,
    handshake: Vec<u64>,
    syn: Vec<u64>,
    segment: Vec<u64>,
}

impl Addresses {
    /// The addresses; messages start with the field's dot.
    pub(super) fn elements(&self) -> Result<Vec<Address>, String> {
        let mut found = Vec::new();
        for (kind, numbers) in [
            (AddressKind::Packet, &self.packet),
            (AddressKind::Large, &self.large),
            (AddressKind::Byte, &self.byte),
            (AddressKind::Initial, &self.initial),
            (AddressKind::Handshake, &self.handshake),
            (AddressKind::Syn, &self.syn),
            (AddressKind::Segment, &self.segment),
        ] {
            if kind != AddressKind::Packet && numbers.contains(&0) {
                return Err(format!(".{}: counts from 1", kind_name(kind)));
            }
            found.extend(numbers.iter().map(|&number| Address { kind, number }));
        }
        Ok(found)
    }
}

/// The name of what is counted, as configuration and summary have it.
#[must_use]
pub fn kind_name(kind: AddressKind) -> &'static str {
    match kind {
        AddressKind::Packet => "packet",
        AddressKind::Large => "large",
        AddressKind::Byte => "byte",
        AddressKind::Initial => "initial",
        AddressKind::Handshake => "handshake",
        AddressKind::Syn => "syn",
        AddressKind::Segment => "segment",
    }
}
