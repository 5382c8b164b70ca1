// SPDX-License-Identifier: Apache-2.0
//! Sealed columns and the buffers that they consist of.

use std::ffi::c_void;
use std::sync::Arc;

/// One immutable buffer of an array.
#[derive(Debug)]
pub enum Buffer {
    /// Bits or text.
    Bytes(Vec<u8>),
    /// Values or offsets of a fixed width.
    U16(Vec<u16>),
    /// See [`Buffer::U16`].
    U32(Vec<u32>),
    /// See [`Buffer::U16`].
    I32(Vec<i32>),
    /// See [`Buffer::U16`].
    U64(Vec<u64>),
    /// See [`Buffer::U16`].
    I64(Vec<i64>),
    /// See [`Buffer::U16`].
    F64(Vec<f64>),
    /// Views of texts; chunks in which a column is one text throughout share them, and the last may be shorter.
    Views(Arc<Vec<u128>>),
}

impl Buffer {
    pub(super) fn as_ptr(&self) -> *const c_void {
        match self {
            Self::Bytes(v) => v.as_ptr().cast(),
            Self::U16(v) => v.as_ptr().cast(),
            Self::U32(v) => v.as_ptr().cast(),
            Self::I32(v) => v.as_ptr().cast(),
            Self::U64(v) => v.as_ptr().cast(),
            Self::I64(v) => v.as_ptr().cast(),
            Self::F64(v) => v.as_ptr().cast(),
            Self::Views(v) => v.as_ptr().cast(),
        }
    }

    /// Memory that it holds; of what is shared, its part.
    fn bytes(&self) -> usize {
        match self {
            Self::Bytes(v) => v.len(),
            Self::U16(v) => v.len() * 2,
            Self::U32(v) => v.len() * 4,
            Self::I32(v) => v.len() * 4,
            Self::U64(v) => v.len() * 8,
            Self::I64(v) => v.len() * 8,
            Self::F64(v) => v.len() * 8,
            Self::Views(v) => v.len() * 16 / Arc::strong_count(v),
        }
    }
}

/// A sealed column: `None` stands for the absent validity bitmap of a column without nulls.
#[derive(Debug)]
pub struct Array {
    pub(super) len: usize,
    pub(super) null_count: usize,
    pub(super) buffers: Vec<Option<Buffer>>,
    pub(super) children: Vec<Array>,
}

impl Array {
    /// Memory held by this column.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let own: usize = self.buffers.iter().flatten().map(Buffer::bytes).sum();
        own + self.children.iter().map(Self::bytes).sum::<usize>()
    }
}
