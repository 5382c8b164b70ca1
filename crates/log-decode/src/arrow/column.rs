// SPDX-License-Identifier: Apache-2.0
//! Column builders: values are appended, then the column is sealed into an immutable [`Array`].

use std::ffi::c_void;

/// Text longer than this is cut (at a character), so that the 32-bit offsets of one chunk cannot overflow.
const MAX_TEXT_BYTES: usize = 4096;

/// One immutable buffer of an array.
#[derive(Debug)]
pub enum Buffer {
    /// Bits or text.
    Bytes(Vec<u8>),
    /// Values or offsets of a fixed width.
    U16(Vec<u16>),
    /// See [`Buffer::U16`].
    U32(Vec<u32>),
    /// See [`Buffer::U16`].
    I32(Vec<i32>),
    /// See [`Buffer::U16`].
    U64(Vec<u64>),
    /// See [`Buffer::U16`].
    I64(Vec<i64>),
    /// See [`Buffer::U16`].
    F64(Vec<f64>),
    /// Views of texts.
    Views(Vec<u128>),
}

impl Buffer {
    pub(super) fn as_ptr(&self) -> *const c_void {
        match self {
            Self::Bytes(v) => v.as_ptr().cast(),
            Self::U16(v) => v.as_ptr().cast(),
            Self::U32(v) => v.as_ptr().cast(),
            Self::I32(v) => v.as_ptr().cast(),
            Self::U64(v) => v.as_ptr().cast(),
            Self::I64(v) => v.as_ptr().cast(),
            Self::F64(v) => v.as_ptr().cast(),
            Self::Views(v) => v.as_ptr().cast(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Bytes(v) => v.len(),
            Self::U16(v) => v.len() * 2,
            Self::U32(v) => v.len() * 4,
            Self::I32(v) => v.len() * 4,
            Self::U64(v) => v.len() * 8,
            Self::I64(v) => v.len() * 8,
            Self::F64(v) => v.len() * 8,
            Self::Views(v) => v.len() * 16,
        }
    }
}

/// A sealed column: `None` stands for the absent validity bitmap of a column without nulls.
#[derive(Debug)]
pub struct Array {
    pub(super) len: usize,
    pub(super) null_count: usize,
    pub(super) buffers: Vec<Option<Buffer>>,
    pub(super) children: Vec<Array>,
}

impl Array {
    /// Memory held by this column.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let own: usize = self.buffers.iter().flatten().map(Buffer::bytes).sum();
        own + self.children.iter().map(Self::bytes).sum::<usize>()
    }
}

/// A growing sequence of bits, least significant bit first.
#[derive(Debug, Default)]
pub struct Bitmap {
    bytes: Vec<u8>,
    len: usize,
}

impl Bitmap {
    fn push(&mut self, bit: bool) {
        if self.len % 8 == 0 {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.len % 8);
        }
        self.len += 1;
    }
}

/// Which rows hold a value; the bitmap exists only from the first null on.
#[derive(Debug, Default)]
struct Validity {
    bits: Option<Bitmap>,
    len: usize,
    nulls: usize,
}

impl Validity {
    #[inline]
    fn push(&mut self, valid: bool) {
        if !valid && self.bits.is_none() {
            let mut bytes = vec![0xff; self.len / 8];
            if self.len % 8 != 0 {
                bytes.push((1 << (self.len % 8)) - 1);
            }
            self.bits = Some(Bitmap {
                bytes,
                len: self.len,
            });
        }
        if let Some(bits) = &mut self.bits {
            bits.push(valid);
        }
        self.len += 1;
        self.nulls += usize::from(!valid);
    }

    fn seal(self, mut buffers: Vec<Option<Buffer>>, children: Vec<Array>) -> Array {
        buffers.insert(0, self.bits.map(|bits| Buffer::Bytes(bits.bytes)));
        Array {
            len: self.len,
            null_count: self.nulls,
            buffers,
            children,
        }
    }
}

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
}

/// What a column of a table holds: `u64`, [`Utf8`], `Option<u64>` (nullable) and so on.
pub trait Kind {
    /// What one row gives.
    type Value<'a>;
    /// Where it goes.
    type Column: Column;
    /// Whether a row may hold a null.
    const NULLABLE: bool = false;
    /// Append one row's value.
    fn push(column: &mut Self::Column, value: Self::Value<'_>);
}

impl<K: Kind> Kind for Option<K> {
    type Value<'a> = Option<K::Value<'a>>;
    type Column = K::Column;
    const NULLABLE: bool = true;

    fn push(column: &mut Self::Column, value: Self::Value<'_>) {
        match value {
            Some(value) => K::push(column, value),
            None => column.push_null(),
        }
    }
}

/// Numbers of a fixed width.
#[derive(Debug, Default)]
pub struct Primitive<T> {
    values: Vec<T>,
    validity: Validity,
}

macro_rules! primitive {
    ($($type:ty, $format:literal, $buffer:ident;)*) => {$(
        impl Column for Primitive<$type> {
            const FORMAT: &'static str = $format;

            fn reserve(&mut self, rows: usize) {
                self.values.reserve(rows);
            }

            fn push_null(&mut self) {
                self.values.push(<$type>::default());
                self.validity.push(false);
            }

            fn seal(self) -> Array {
                self.validity.seal(vec![Some(Buffer::$buffer(self.values))], vec![])
            }
        }

        impl Kind for $type {
            type Value<'a> = $type;
            type Column = Primitive<$type>;

            fn push(column: &mut Self::Column, value: $type) {
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
