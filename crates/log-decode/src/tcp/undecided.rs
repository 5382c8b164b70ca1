// SPDX-License-Identifier: Apache-2.0
//! Segments of a connection whose start is not in the capture, kept until one of them tells which end is the client.

use super::first_bytes;
use super::segment::{Segment, SYN};
use super::TcpOptions;
use crate::{Direction, End};
use std::net::SocketAddr;

/// Most segments that wait, and most bytes of them: beyond that the lower port is taken for the server's.
const MAX_SEGMENTS: usize = 32;
const MAX_BYTES: usize = 1 << 15;

/// A segment that outlives its packet.
#[derive(Debug)]
pub(super) struct Kept {
    segment: Segment<'static>,
    options: TcpOptions,
    payload: Vec<u8>,
}

impl Kept {
    fn new(segment: &Segment<'_>) -> Self {
        Self {
            segment: Segment {
                options: &TcpOptions::NONE,
                payload: &[],
                ..*segment
            },
            options: *segment.options,
            payload: segment.payload.to_vec(),
        }
    }

    pub(super) fn segment(&self) -> Segment<'_> {
        Segment {
            options: &self.options,
            payload: &self.payload,
            ..self.segment
        }
    }
}

/// Segments of one connection that wait.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    kept: Vec<Kept>,
    bytes: usize,
}

impl Undecided {
    /// Take a segment; the client's address once that can be told.
    pub(super) fn take(&mut self, segment: &Segment<'_>) -> Option<SocketAddr> {
        let told = client(segment);
        self.bytes += segment.payload.len();
        self.kept.push(Kept::new(segment));
        let is_full = self.kept.len() >= MAX_SEGMENTS || self.bytes >= MAX_BYTES;
        told.or(is_full.then(|| by_port(segment)))
    }

    /// All that waits, and the client by the ports where nothing has told it.
    pub(super) fn drain(&mut self) -> Vec<Kept> {
        self.bytes = 0;
        std::mem::take(&mut self.kept)
    }

    pub(super) fn by_port(&self) -> Option<SocketAddr> {
        self.kept.first().map(|kept| by_port(&kept.segment))
    }

    /// True if a SYN with `seq` from `src` came late and began what waits.
    pub(super) fn begins_with(&self, src: SocketAddr, seq: u32) -> bool {
        let mut kept = self.kept.iter().map(|kept| &kept.segment);
        kept.any(|kept| kept.src == src && kept.seq == seq.wrapping_add(1))
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.bytes + self.kept.len() * size_of::<Kept>()
    }
}

/// The client: the sender of the first SYN; else the capture's own direction tells, else what the segment carries.
pub(super) fn client(segment: &Segment<'_>) -> Option<SocketAddr> {
    let is_client = if segment.has(SYN) {
        segment.ack.is_none()
    } else if let Some(direction) = segment.direction {
        direction == Direction::Up
    } else {
        first_bytes::sender(segment.payload)? == End::Client
    };
    Some(if is_client { segment.src } else { segment.dst })
}

/// Servers have the lower ports.
fn by_port(segment: &Segment<'_>) -> SocketAddr {
    if segment.src.port() > segment.dst.port() {
        segment.src
    } else {
        segment.dst
    }
}
