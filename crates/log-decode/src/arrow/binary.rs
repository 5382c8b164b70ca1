// SPDX-License-Identifier: Apache-2.0
//! Columns of bytes, such as images.

use super::array::{Array, Buffer};
use super::validity::Validity;
use super::{Column, Kind};

/// End offsets; the leading 0 is there from the start, as the format demands.
#[derive(Debug)]
struct Offsets(Vec<i64>);

impl Default for Offsets {
    fn default() -> Self {
        Self(vec![0])
    }
}

/// Bytes of any length; also the [`Kind`] of such columns.
#[derive(Debug, Default)]
pub struct Binary {
    offsets: Offsets,
    bytes: Vec<u8>,
    validity: Validity,
}

impl Binary {
    fn end_row(&mut self, valid: bool) {
        self.offsets
            .0
            .push(i64::try_from(self.bytes.len()).unwrap_or(i64::MAX));
        self.validity.push(valid);
    }
}

impl Column for Binary {
    const FORMAT: &'static str = "Z";

    fn reserve(&mut self, rows: usize) {
        self.offsets.0.reserve(rows);
    }

    fn push_null(&mut self) {
        self.end_row(false);
    }

    fn seal(self) -> Array {
        self.validity.seal(
            vec![
                Some(Buffer::I64(self.offsets.0)),
                Some(Buffer::Bytes(self.bytes)),
            ],
            vec![],
        )
    }
}

impl Kind for Binary {
    type Value<'a> = &'a [u8];
    type Column = Self;

    fn push(column: &mut Self, value: &[u8]) {
        column.bytes.extend_from_slice(value);
        column.end_row(true);
    }
}
