// SPDX-License-Identifier: Apache-2.0
//! Field blocks of one direction, joined from HEADERS or `PUSH_PROMISE` and their CONTINUATIONs (RFC 9113 section 4.3).

use crate::http::fields::Fields;
use crate::http::hpack;
use crate::{Severity, Stats};

/// The longest block that is joined; without a bound CONTINUATION frames could go on for ever.
const MAX_BLOCK_BYTES: usize = 1 << 20;

/// A field block that is still open, or has just been decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub stream_id: u32,
    /// The stream that a `PUSH_PROMISE` opens.
    pub promised: Option<u32>,
    pub end_stream: bool,
    pub first_ns: i64,
    /// Compressed length.
    pub bytes: u64,
}

/// The decompression state, and the block that is open.
#[derive(Debug, Default)]
pub(super) struct HeaderBlocks {
    decoder: hpack::Decoder,
    /// Part of the compressed stream is lost, and with it the state.
    lost: bool,
    open: Option<Block>,
    joined: Vec<u8>,
    /// The last block's fields.
    pub fields: Fields,
}

impl HeaderBlocks {
    /// True if the next frame must be a CONTINUATION.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    pub(super) fn lose(&mut self) {
        self.lost = true;
        self.open = None;
        self.joined = Vec::new();
    }

    pub(super) fn start(&mut self, block: Block) {
        self.joined.clear();
        self.open = Some(block);
    }

    /// A fragment of the open block; the block once it is whole, and whether `fields` holds what it says.
    pub(super) fn fragment(
        &mut self,
        fragment: &[u8],
        is_cut: bool,
        is_last: bool,
        stats: &mut Stats,
    ) -> Option<(Block, bool)> {
        let open = self.open.as_mut()?;
        open.bytes = open.bytes.saturating_add(fragment.len() as u64);
        let is_too_long = is_cut || self.joined.len() + fragment.len() > MAX_BLOCK_BYTES;
        if is_too_long && !self.lost {
            stats.count(
                "http2_header_block_too_long",
                Severity::DataLoss,
                "a header of more than 1 MiB: this and all later headers of its direction are not decoded",
            );
        }
        self.lost |= is_too_long;
        if !self.lost {
            self.joined.extend_from_slice(fragment);
        }
        if !is_last {
            return None;
        }
        let block = self.open.take()?;
        self.fields.clear();
        if !self.lost {
            self.lost = self.decoder.decode(&self.joined, &mut self.fields).is_err();
        }
        if self.lost {
            stats.count(
                "http2_header_not_decoded",
                Severity::DataLoss,
                "a header whose compression state is lost: a gap in the capture before it, or an invalid encoding",
            );
        }
        Some((block, !self.lost))
    }
}
