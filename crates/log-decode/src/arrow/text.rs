// SPDX-License-Identifier: Apache-2.0
//! Columns of texts.

use super::array::{Array, Buffer};
use super::validity::Validity;
use super::{Column, Kind};
use std::sync::Arc;

/// Text longer than this is cut (at a character), so that the 32-bit offsets of one chunk cannot overflow.
const MAX_TEXT_BYTES: usize = 4096;

/// Texts in the view layout: up to twelve bytes stand in the view itself, longer ones in a buffer beside it.
///
/// Logs repeat the same few long texts (connection ids, addresses), so the last of them are not stored again.
#[derive(Debug, Default)]
pub struct Text {
    views: Vec<u128>,
    /// The view that stands in the latest rows, and in how many of them, which `views` lacks: most columns repeat one
    /// text for long. A null repeats it too, as it is not read there.
    latest: u128,
    repeated: usize,
    bytes: Vec<u8>,
    /// Views of the long texts stored last.
    recent: [u128; 4],
    next_recent: usize,
    /// The views of an earlier chunk that was one text throughout: the next one like it needs no memory of its own.
    uniform: Arc<Vec<u128>>,
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
        if self.stored(self.latest) == text {
            return self.latest;
        }
        let known = (self.recent.iter().copied()).find(|&view| self.stored(view) == text);
        known.unwrap_or_else(|| {
            let prefix = (text.first_chunk()).map_or(0, |first| u32::from_le_bytes(*first));
            let offset = self.bytes.len() as u128;
            self.bytes.extend_from_slice(text);
            let view = text.len() as u128 | u128::from(prefix) << 32 | offset << 96;
            self.recent[self.next_recent] = view;
            self.next_recent = (self.next_recent + 1) % self.recent.len();
            view
        })
    }

    #[inline]
    fn push_view(&mut self, view: u128) {
        if view != self.latest {
            self.write_latest();
            self.latest = view;
        }
        self.repeated += 1;
        self.validity.push(true);
    }

    #[inline]
    fn write_latest(&mut self) {
        match std::mem::take(&mut self.repeated) {
            1 => self.views.push(self.latest),
            rows => self.views.resize(self.views.len() + rows, self.latest),
        }
    }

    /// The views of a chunk that is one text throughout.
    fn uniform(&mut self) -> Arc<Vec<u128>> {
        let known = std::mem::take(&mut self.uniform);
        if known.len() >= self.repeated && known.first() == Some(&self.latest) {
            return known;
        }
        Arc::new(vec![self.latest; self.repeated])
    }

    /// The text of a long view; empty for a short one.
    #[inline]
    fn stored(&self, view: u128) -> &[u8] {
        let part =
            |shift: u32| usize::try_from(view >> shift & u128::from(u32::MAX)).unwrap_or_default();
        let length = part(0);
        if length <= Self::INLINE_BYTES {
            return &[];
        }
        self.bytes
            .get(part(96)..part(96) + length)
            .unwrap_or_default()
    }
}

/// Up to twelve bytes as one number, the first lowest: two loads that may overlap instead of a copy of unknown length.
#[inline]
fn inline(text: &[u8]) -> u128 {
    let last_at = text.len().saturating_sub(4);
    match (
        text.first_chunk::<8>(),
        text.first_chunk::<4>(),
        text.last_chunk::<4>(),
    ) {
        (Some(first), _, Some(last)) => {
            let last = u128::from(u32::from_le_bytes(*last)) << (last_at * 8);
            u128::from(u64::from_le_bytes(*first)) | last
        }
        (_, Some(first), Some(last)) => {
            let last = u128::from(u32::from_le_bytes(*last)) << (last_at * 8);
            u128::from(u32::from_le_bytes(*first)) | last
        }
        _ => text
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u128::from(*byte)),
    }
}

impl Column for Text {
    const FORMAT: &'static str = "vu";

    fn reserve(&mut self, rows: usize) {
        if !self.views.is_empty() {
            self.views.reserve(rows);
        }
    }

    #[inline]
    fn push_null(&mut self) {
        self.repeated += 1;
        self.validity.push(false);
    }

    fn seal(mut self) -> Array {
        self.seal_chunk()
    }

    fn seal_chunk(&mut self) -> Array {
        let mut sealed = std::mem::take(self);
        let views = if sealed.views.is_empty() {
            self.uniform = sealed.uniform();
            Arc::clone(&self.uniform)
        } else {
            sealed.write_latest();
            self.uniform = sealed.uniform;
            Arc::new(sealed.views)
        };
        let lengths = vec![i64::try_from(sealed.bytes.len()).unwrap_or_default()];
        let buffers = [
            Buffer::Views(views),
            Buffer::Bytes(sealed.bytes),
            Buffer::I64(lengths),
        ];
        sealed
            .validity
            .seal(buffers.into_iter().map(Some).collect(), vec![])
    }
}

impl Kind for Utf8 {
    type Value<'a> = &'a str;
    type Column = Text;

    #[inline]
    fn push(column: &mut Text, value: &str) {
        let text = value.as_bytes();
        let view = if text.len() <= Text::INLINE_BYTES {
            inline(text) << 32 | text.len() as u128
        } else {
            column.long_view(cut(value).as_bytes())
        };
        column.push_view(view);
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
