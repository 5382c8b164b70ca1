// SPDX-License-Identifier: Apache-2.0
//! Columns of lists.

use super::array::{Array, Buffer};
use super::validity::Validity;
use super::{Column, Kind};

/// End offsets of lists; the leading 0 is there from the start, as the format demands.
#[derive(Debug)]
struct Offsets(Vec<i32>);

impl Default for Offsets {
    fn default() -> Self {
        Self(vec![0])
    }
}

impl Offsets {
    fn push(&mut self, end: usize) {
        self.0.push(i32::try_from(end).unwrap_or(i32::MAX));
    }
}

/// Lists of 32-bit numbers; also the [`Kind`] of such columns.
#[derive(Debug, Default)]
pub struct List32 {
    offsets: Offsets,
    items: Vec<u32>,
    validity: Validity,
}

impl Column for List32 {
    const FORMAT: &'static str = "+l";
    const ITEM_FORMAT: Option<&'static str> = Some("I");

    fn reserve(&mut self, rows: usize) {
        self.offsets.0.reserve(rows);
    }

    fn push_null(&mut self) {
        self.offsets.push(self.items.len());
        self.validity.push(false);
    }

    fn seal(self) -> Array {
        let items = Array {
            len: self.items.len(),
            null_count: 0,
            buffers: vec![None, Some(Buffer::U32(self.items))],
            children: vec![],
        };
        self.validity
            .seal(vec![Some(Buffer::I32(self.offsets.0))], vec![items])
    }
}

impl Kind for List32 {
    type Value<'a> = &'a [u32];
    type Column = Self;

    fn push(column: &mut Self, value: &[u32]) {
        column.items.extend_from_slice(value);
        column.offsets.push(column.items.len());
        column.validity.push(true);
    }
}
