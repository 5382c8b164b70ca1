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
    /// The nulls before the first value get values, which are not read, when that comes; the nulls behind it at once.
    #[cold]
    fn catch_up(&mut self) {
        self.values.resize(self.validity.len(), T::default());
    }
}

macro_rules! primitive {
    ($($type:ty, $format:literal, $buffer:ident;)*) => {$(
        impl Column for Primitive<$type> {
            const FORMAT: &'static str = $format;

            fn reserve(&mut self, rows: usize) {
                if self.values.len() == self.validity.len() {
                    self.values.reserve(rows);
                }
            }

            #[inline]
            fn push_null(&mut self) {
                if !self.values.is_empty() {
                    self.values.push(<$type>::default());
                }
                self.validity.push(false);
            }

            fn seal(mut self) -> Array {
                if self.values.is_empty() {
                    // Zeroed pages come for nothing.
                    self.values = vec![<$type>::default(); self.validity.len()];
                }
                self.validity.seal(vec![Some(Buffer::$buffer(self.values))], vec![])
            }
        }

        impl Kind for $type {
            type Value<'a> = $type;
            type Column = Primitive<$type>;

            #[inline]
            fn push(column: &mut Self::Column, value: $type) {
                if column.values.len() < column.validity.len() {
                    column.catch_up();
                }
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

    fn reserve(&mut self, _rows: usize) {}

    #[inline]
    fn push_null(&mut self) {
        self.values.push(false);
        self.validity.push(false);
    }

    fn seal(self) -> Array {
        self.validity
            .seal(vec![Some(self.values.into_buffer())], vec![])
    }
}

impl Kind for bool {
    type Value<'a> = bool;
    type Column = Boolean;

    #[inline]
    fn push(column: &mut Boolean, value: bool) {
        column.values.push(value);
        column.validity.push(true);
    }
}
