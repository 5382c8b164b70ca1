// SPDX-License-Identifier: Apache-2.0
//! HTTP over bytes that a transport's decoder hands over in order, in portions of any size.

mod both;
mod cursor;
mod detail;
mod dynamic_table;
mod exchange;
mod fields;
pub mod h1;
pub mod h2;
pub mod h3;
mod hpack;
mod huffman;
mod names;
mod qpack;
mod qpack_feedback;
mod static_tables;
#[cfg(test)]
mod testing;
