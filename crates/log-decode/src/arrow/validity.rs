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
    #[inline]
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

/// Which rows hold a value; the bitmap exists only where some do and some do not.
#[derive(Debug, Default)]
pub(super) struct Validity {
    bits: Option<Bitmap>,
    len: usize,
    nulls: usize,
}

impl Validity {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn push(&mut self, valid: bool) {
        match &mut self.bits {
            Some(bits) => bits.push(valid),
            None if self.nulls == if valid { 0 } else { self.len } => {}
            None => self.differ(valid),
        }
        self.len += 1;
        self.nulls += usize::from(!valid);
    }

    /// The first row that is not like all before it.
    #[cold]
    fn differ(&mut self, valid: bool) {
        let mut bits = self.uniform();
        bits.push(valid);
        self.bits = Some(bits);
    }

    /// The bitmap of rows that are all alike.
    fn uniform(&self) -> Bitmap {
        let valid = self.nulls == 0;
        let mut bytes = vec![if valid { 0xff } else { 0 }; self.len / 8];
        if self.len % 8 != 0 {
            bytes.push(if valid { (1 << (self.len % 8)) - 1 } else { 0 });
        }
        Bitmap {
            bytes,
            len: self.len,
        }
    }

    pub(super) fn seal(self, mut buffers: Vec<Option<Buffer>>, children: Vec<Array>) -> Array {
        let bits = match self.bits {
            None if self.nulls > 0 => Some(self.uniform()),
            bits => bits,
        };
        buffers.insert(0, bits.map(|bits| Buffer::Bytes(bits.bytes)));
        Array {
            len: self.len,
            null_count: self.nulls,
            buffers,
            children,
        }
    }
}
