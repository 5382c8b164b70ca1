// SPDX-License-Identifier: Apache-2.0
//! Columns of texts.

use super::array::{Array, Buffer};
use super::validity::Validity;
use super::{Column, Kind};

/// Text longer than this is cut (at a character), so that the 32-bit offsets of one chunk cannot overflow.
const MAX_TEXT_BYTES: usize = 4096;

/// Texts in the view layout: up to twelve bytes stand in the view itself, longer ones in a buffer beside it.
///
/// Logs repeat the same few long texts (connection ids, addresses), so the last of them are not stored again.
#[derive(Debug, Default)]
pub struct Text {
    views: Vec<u128>,
    bytes: Vec<u8>,
    /// Views of the long texts stored last.
    recent: [u128; 4],
    next_recent: usize,
    validity: Validity,
}

/// A view is one little-endian number only on a machine that is little-endian itself.
const _: () = assert!(cfg!(target_endian = "little"));

/// The [`Kind`] of texts.
#[derive(Debug)]
pub struct Utf8;

impl Text {
    const INLINE_BYTES: usize = 12;

    /// The view of a long text: length, first four bytes, buffer (always the first), offset.
    fn long_view(&mut self, text: &[u8]) -> u128 {
        let known = self
            .recent
            .iter()
            .copied()
            .find(|&view| self.stored(view) == text);
        known.unwrap_or_else(|| {
            let offset = self.bytes.len() as u128;
            self.bytes.extend_from_slice(text);
            let prefix = u32::from_le_bytes([text[0], text[1], text[2], text[3]]);
            let view = text.len() as u128 | u128::from(prefix) << 32 | offset << 96;
            self.recent[self.next_recent] = view;
            self.next_recent = (self.next_recent + 1) % self.recent.len();
            view
        })
    }

    fn stored(&self, view: u128) -> &[u8] {
        let part =
            |shift: u32| usize::try_from(view >> shift & u128::from(u32::MAX)).unwrap_or_default();
        self.bytes
            .get(part(96)..part(96) + part(0))
            .unwrap_or_default()
    }
}

impl Column for Text {
    const FORMAT: &'static str = "vu";

    fn reserve(&mut self, rows: usize) {
        self.views.reserve(rows);
    }

    fn push_null(&mut self) {
        self.views.push(0);
        self.validity.push(false);
    }

    fn seal(self) -> Array {
        let lengths = vec![i64::try_from(self.bytes.len()).unwrap_or_default()];
        let buffers = [
            Buffer::Views(self.views),
            Buffer::Bytes(self.bytes),
            Buffer::I64(lengths),
        ];
        self.validity
            .seal(buffers.into_iter().map(Some).collect(), vec![])
    }
}

impl Kind for Utf8 {
    type Value<'a> = &'a str;
    type Column = Text;

    #[inline]
    fn push(column: &mut Text, value: &str) {
        let mut end = value.len().min(MAX_TEXT_BYTES);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        let text = &value.as_bytes()[..end];
        let view = if end <= Text::INLINE_BYTES {
            let mut view = [0; 16];
            view[4..4 + end].copy_from_slice(text);
            u128::from_le_bytes(view) | end as u128
        } else {
            column.long_view(text)
        };
        column.views.push(view);
        column.validity.push(true);
    }
}
