// SPDX-License-Identifier: Apache-2.0
//! The few Arrow columns that the tables need, and their way out through the C stream interface.
//!
//! The memory layout is that of the Arrow columnar format 1.0; <https://arrow.apache.org/docs/format/Columnar.html>.

mod array;
mod binary;
mod column;
pub mod ffi;
mod fixed_width;
mod list;
#[cfg(test)]
mod reading;
mod table;
mod text;
mod validity;

pub use array::Array;
pub use binary::Binary;
pub use column::{Column, Kind};
pub use fixed_width::{Boolean, Primitive};
pub use list::List32;
pub(crate) use table::{table, Sealed, CHUNK_ROWS};
pub use table::{Chunk, Field, Outlet, Table};
pub use text::{Text, Utf8};
pub use validity::Bitmap;

#[cfg(test)]
mod tests;
