// SPDX-License-Identifier: Apache-2.0
//! Bits, and which rows of a column hold a value.

use super::array::{Array, Buffer};

/// A growing sequence of bits, least significant bit first.
#[derive(Debug, Default)]
pub struct Bitmap {
    pub(super) bytes: Vec<u8>,
    len: usize,
}

impl Bitmap {
    pub(super) fn push(&mut self, bit: bool) {
        if self.len % 8 == 0 {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.len % 8);
        }
        self.len += 1;
    }
}

/// Which rows hold a value; the bitmap exists only from the first null on.
#[derive(Debug, Default)]
pub(super) struct Validity {
    bits: Option<Bitmap>,
    len: usize,
    nulls: usize,
}

impl Validity {
    #[inline]
    pub(super) fn push(&mut self, valid: bool) {
        if !valid && self.bits.is_none() {
            let mut bytes = vec![0xff; self.len / 8];
            if self.len % 8 != 0 {
                bytes.push((1 << (self.len % 8)) - 1);
            }
            self.bits = Some(Bitmap {
                bytes,
                len: self.len,
            });
        }
        if let Some(bits) = &mut self.bits {
            bits.push(valid);
        }
        self.len += 1;
        self.nulls += usize::from(!valid);
    }

    pub(super) fn seal(self, mut buffers: Vec<Option<Buffer>>, children: Vec<Array>) -> Array {
        buffers.insert(0, self.bits.map(|bits| Buffer::Bytes(bits.bytes)));
        Array {
            len: self.len,
            null_count: self.nulls,
            buffers,
            children,
        }
    }
}
