// SPDX-License-Identifier: Apache-2.0
//! Batch that the first stage of decoding hands to the second: a stretch of a capture whose headers
//! have been read.

use crate::arrow::Table;
use crate::quic::UdpDatagram;
use crate::tcp::{Segment, TcpOptions};
use std::ops::Range;

/// A stretch of a capture.
#[derive(Default)]
pub(super) struct Batch {
    /// The file's own bytes.
    pub(super) bytes: Vec<u8>,
    /// Items that the connections are to take from it, in order.
    pub(super) items: Vec<Item>,
    /// Full chunks of `ip_packets`.
    pub(super) rows: Vec<Table>,
}

/// Something for the connections; its range says where its contents stand in the stretch.
pub(super) enum Item {
    /// A segment, which lacks options and payload.
    Segment(Segment<'static>, TcpOptions, Range<usize>),
    /// A datagram, which lacks its payload.
    Datagram(UdpDatagram<'static>, Range<usize>),
    /// Secrets that the capture carries.
    Secrets(Range<usize>),
}
