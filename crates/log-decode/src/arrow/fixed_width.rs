// SPDX-License-Identifier: Apache-2.0
//! Columns of numbers and of booleans.

use super::array::{Array, Buffer};
use super::validity::{Bitmap, Validity};
use super::{Column, Kind};

/// Numbers of a fixed width.
#[derive(Debug, Default)]
pub struct Primitive<T> {
    values: Vec<T>,
    validity: Validity,
}

impl<T: Copy + Default> Primitive<T> {
    /// Nulls get their values, which nobody reads, when something else comes or the column ends.
    #[inline]
    fn catch_up(&mut self) {
        if self.values.len() < self.validity.len() {
            self.values.resize(self.validity.len(), T::default());
        }
    }
}

macro_rules! primitive {
    ($($type:ty, $format:literal, $buffer:ident;)*) => {$(
        impl Column for Primitive<$type> {
            const FORMAT: &'static str = $format;

            fn reserve(&mut self, rows: usize) {
                self.values.reserve(rows);
            }

            fn push_null(&mut self) {
                self.validity.push(false);
            }

            fn seal(mut self) -> Array {
                self.catch_up();
                self.validity.seal(vec![Some(Buffer::$buffer(self.values))], vec![])
            }
        }

        impl Kind for $type {
            type Value<'a> = $type;
            type Column = Primitive<$type>;

            #[inline]
            fn push(column: &mut Self::Column, value: $type) {
                column.catch_up();
                column.values.push(value);
                column.validity.push(true);
            }
        }
    )*};
}

primitive! {
    u8, "C", Bytes;
    u16, "S", U16;
    u32, "I", U32;
    i32, "i", I32;
    u64, "L", U64;
    i64, "l", I64;
    f64, "g", F64;
}

/// Booleans, one bit each.
#[derive(Debug, Default)]
pub struct Boolean {
    values: Bitmap,
    validity: Validity,
}

impl Column for Boolean {
    const FORMAT: &'static str = "b";

    fn reserve(&mut self, rows: usize) {
        self.values.bytes.reserve(rows / 8);
    }

    fn push_null(&mut self) {
        self.values.push(false);
        self.validity.push(false);
    }

    fn seal(self) -> Array {
        self.validity
            .seal(vec![Some(Buffer::Bytes(self.values.bytes))], vec![])
    }
}

impl Kind for bool {
    type Value<'a> = bool;
    type Column = Boolean;

    fn push(column: &mut Boolean, value: bool) {
        column.values.push(value);
        column.validity.push(true);
    }
}
