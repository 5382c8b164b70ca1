// SPDX-License-Identifier: Apache-2.0
//! Column: values are appended, then it is sealed into an immutable [`Array`].

use super::Array;

/// A column under construction.
pub trait Column: Default {
    /// The type in the format strings of the Arrow C data interface.
    const FORMAT: &'static str;
    /// The type of the items of a list.
    const ITEM_FORMAT: Option<&'static str> = None;
    /// Make room for so many rows.
    fn reserve(&mut self, rows: usize);
    /// Append a null.
    fn push_null(&mut self);
    /// Make the column immutable.
    fn seal(self) -> Array;
    /// Make what has been appended immutable, and begin the column's next chunk.
    fn seal_chunk(&mut self) -> Array {
        std::mem::take(self).seal()
    }
}

/// Kind of a table's column: `u64`, [`Utf8`](super::Utf8), `Option<u64>` (nullable) and so on.
pub trait Kind {
    /// Value that one row gives.
    type Value<'a>;
    /// Column that it goes to.
    type Column: Column;
    /// True if a row may hold a null.
    const NULLABLE: bool = false;
    /// Append one row's value.
    fn push(column: &mut Self::Column, value: Self::Value<'_>);
}

impl<K: Kind> Kind for Option<K> {
    type Value<'a> = Option<K::Value<'a>>;
    type Column = K::Column;
    const NULLABLE: bool = true;

    #[inline]
    fn push(column: &mut Self::Column, value: Self::Value<'_>) {
        match value {
            Some(value) => K::push(column, value),
            None => column.push_null(),
        }
    }
}
