// SPDX-License-Identifier: Apache-2.0
//! The few Arrow columns that the tables need, and their way out through the C stream interface.
//!
//! The memory layout is that of the Arrow columnar format 1.0; <https://arrow.apache.org/docs/format/Columnar.html>.

mod column;
pub mod ffi;
mod table;

pub use column::{Array, Bitmap, Boolean, Column, Kind, List32, Primitive, Text, Utf8};
pub(crate) use table::{table, CHUNK_ROWS};
pub use table::{Chunk, Field, Table};
