// SPDX-License-Identifier: Apache-2.0
//! Bits, and which rows of a column hold a value.

use super::array::{Array, Buffer};

/// A growing sequence of bits, least significant bit first.
#[derive(Debug, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    /// The bits behind those in `words`.
    last: u64,
    len: usize,
}

impl Bitmap {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn push(&mut self, bit: bool) {
        self.last |= u64::from(bit) << (self.len % 64);
        self.len += 1;
        if self.len % 64 == 0 {
            self.words.push(std::mem::take(&mut self.last));
        }
    }

    fn count_ones(&self) -> usize {
        let words = self.words.iter().chain([&self.last]);
        words.map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn into_buffer(mut self) -> Buffer {
        self.words.push(self.last);
        let mut bytes: Vec<u8> = self.words.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.truncate(self.len.div_ceil(8));
        Buffer::Bytes(bytes)
    }
}

/// Bitmap of the rows that hold a value; a sealed column has it only where some do not.
#[derive(Debug, Default)]
pub(super) struct Validity(Bitmap);

impl Validity {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn push(&mut self, valid: bool) {
        self.0.push(valid);
    }

    pub(super) fn seal(self, mut buffers: Vec<Option<Buffer>>, children: Vec<Array>) -> Array {
        let len = self.len();
        let null_count = len - self.0.count_ones();
        buffers.insert(0, (null_count > 0).then(|| self.0.into_buffer()));
        Array {
            len,
            null_count,
            buffers,
            children,
        }
    }
}
