// SPDX-License-Identifier: Apache-2.0
//! Records of the packet log, as docs/reference/packet-log.md describes them.

/// Length of a record in bytes.
pub const LENGTH: usize = 48;
/// Length of the file header in bytes.
pub const HEADER_LENGTH: usize = 64;
/// Offset of `model_zero_ns` in the file header.
pub const MODEL_ZERO_AT: u64 = 16;
/// The index of a packet outside the model.
pub const NO_INDEX: u32 = u32::MAX;

/// Action on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// Written to the far end.
    #[default]
    Delivered = 0,
    /// Dropped by the model.
    Dropped = 1,
    /// Passed on outside the model.
    OutsideModel = 2,
    /// Still in the link at the end.
    InsideAtEnd = 3,
}

/// A second copy made by the model.
pub const DUPLICATE: u8 = 1;
/// A bit was turned over.
pub const CORRUPTED: u8 = 2;
/// Held back on purpose.
pub const REORDERED: u8 = 4;
/// Marked "congestion experienced" by the link.
pub const MARKED: u8 = 8;
/// Larger than the end's MTU.
pub const OVERSIZED: u8 = 16;

/// One packet. Instants are `CLOCK_MONOTONIC` nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The instant at which the packet was read.
    pub arrival_ns: u64,
    /// The instant at which the model lets its last bit reach the far end; 0 if dropped.
    pub due_ns: u64,
    /// The actual write minus `due_ns`.
    pub lateness_ns: i32,
    /// The bottleneck's queue just before the packet came there.
    pub queue_bytes: u32,
    /// Number in its direction, or [`NO_INDEX`].
    pub index: u32,
    /// Number of the super-packet it was cut from, in its direction, the same on each link as far as a proxy.
    pub source_burst: u32,
    /// Hash of addresses, ports and protocol.
    pub flow: u32,
    /// Size of the IP packet.
    pub size_bytes: u16,
    /// The bottleneck's queue just before the packet came there.
    pub queue_packets: u16,
    /// 0 up, 1 down.
    pub direction: u8,
    /// Action on the packet.
    pub action: Action,
    /// Reason why it was dropped, as a number.
    pub reason: u8,
    /// [`DUPLICATE`] and its siblings.
    pub flags: u8,
    /// Time for which the bottleneck was sending it.
    pub service_ns: u32,
}

impl Record {
    /// The record as it stands in the file.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[0..8].copy_from_slice(&self.arrival_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.due_ns.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.lateness_ns.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.queue_bytes.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.index.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.source_burst.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.flow.to_le_bytes());
        bytes[36..38].copy_from_slice(&self.size_bytes.to_le_bytes());
        bytes[38..40].copy_from_slice(&self.queue_packets.to_le_bytes());
        bytes[40..44].copy_from_slice(&[
            self.direction,
            self.action as u8,
            self.reason,
            self.flags,
        ]);
        bytes[44..48].copy_from_slice(&self.service_ns.to_le_bytes());
        bytes
    }
}

/// The file header; `model_zero_ns` is filled in at the end.
#[must_use]
pub fn file_header(realtime_minus_monotonic_ns: i64) -> [u8; HEADER_LENGTH] {
    let mut header = [0; HEADER_LENGTH];
    header[..8].copy_from_slice(b"QLPKTLOG");
    header[8..12].copy_from_slice(&1_u32.to_le_bytes());
    header[12] = 48;
    header[24..32].copy_from_slice(&realtime_minus_monotonic_ns.to_le_bytes());
    header
}
