// SPDX-License-Identifier: Apache-2.0
//! Sealed columns read back as texts, for tests.

use super::array::{Array, Buffer};
use super::Table;

impl Table {
    /// Every row as the texts of the named columns with `|` between them; a null is empty.
    pub(crate) fn lines(&self, columns: &[&str]) -> Vec<String> {
        let at: Vec<usize> = columns
            .iter()
            .map(|name| {
                self.fields
                    .iter()
                    .position(|field| field.name == *name)
                    .expect(name)
            })
            .collect();
        let line = |chunk: &super::Chunk, row| {
            let cells: Vec<String> = at
                .iter()
                .map(|&at| cell(&chunk.columns[at], self.fields[at].format, row))
                .collect();
            cells.join("|")
        };
        self.chunks
            .iter()
            .flat_map(|chunk| (0..chunk.rows).map(move |row| line(chunk, row)))
            .collect()
    }
}

fn bit(bytes: &[u8], at: usize) -> bool {
    bytes[at / 8] >> (at % 8) & 1 == 1
}

fn cell(array: &Array, format: &str, row: usize) -> String {
    if let Some(Buffer::Bytes(validity)) = &array.buffers[0] {
        if !bit(validity, row) {
            return String::new();
        }
    }
    match array.buffers[1].as_ref().expect("a column has values") {
        Buffer::Bytes(bytes) if format == "b" => bit(bytes, row).to_string(),
        Buffer::Bytes(bytes) => bytes[row].to_string(),
        Buffer::U16(values) => values[row].to_string(),
        Buffer::U32(values) => values[row].to_string(),
        Buffer::I32(values) => values[row].to_string(),
        Buffer::U64(values) => values[row].to_string(),
        Buffer::I64(values) => values[row].to_string(),
        Buffer::F64(values) => values[row].to_string(),
        Buffer::Views(views) => text(views[row], array.buffers[2].as_ref()),
    }
}

fn text(view: u128, long: Option<&Buffer>) -> String {
    let part = |shift: u32| usize::try_from(view >> shift & u128::from(u32::MAX)).unwrap();
    let length = part(0);
    let bytes = if length <= 12 {
        view.to_le_bytes()[4..4 + length].to_vec()
    } else {
        let Some(Buffer::Bytes(long)) = long else {
            panic!("a long text has no buffer")
        };
        long[part(96)..part(96) + length].to_vec()
    };
    String::from_utf8(bytes).expect("a text is UTF-8")
}
