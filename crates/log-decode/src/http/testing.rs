// SPDX-License-Identifier: Apache-2.0
//! Helpers that the tests of this module share.

use crate::tables::{Finished, Tables};

/// Bytes of a hexadecimal text; blanks are skipped.
pub(super) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|char| !char.is_whitespace())
        .map(|char| u8::try_from(char.to_digit(16).unwrap()).unwrap())
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// Rows of a table as texts of some columns, `|` between them.
pub(super) fn lines(finished: &Finished, table: &str, columns: &[&str]) -> Vec<String> {
    finished
        .table(table)
        .map_or(Vec::new(), |table| table.lines(columns))
}

/// All rows of all tables, findings included.
pub(super) fn everything(finished: &Finished) -> Vec<String> {
    let tables = finished.tables.iter().flat_map(|table| {
        let columns: Vec<&str> = table.fields.iter().map(|field| field.name).collect();
        let lines = table.lines(&columns);
        lines
            .into_iter()
            .map(move |line| format!("{}: {line}", table.name))
    });
    let stats = finished
        .stats
        .iter()
        .map(|(name, stat)| format!("{name} {}", stat.count));
    tables.chain(stats).collect()
}

/// Tables that a decoder makes of something.
pub(super) fn finish(run: impl FnOnce(&mut Tables)) -> Finished {
    let mut tables = Tables::default();
    run(&mut tables);
    tables.finish()
}

/// Numbers that look random and are the same in every run (xorshift).
pub(super) struct Numbers(pub u64);

impl Numbers {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    /// Cut bytes into portions of up to `longest`.
    pub(super) fn portions<'a>(&mut self, mut bytes: &'a [u8], longest: usize) -> Vec<&'a [u8]> {
        let mut portions = Vec::new();
        while !bytes.is_empty() {
            let (portion, rest) = bytes.split_at((1 + self.below(longest)).min(bytes.len()));
            portions.push(portion);
            bytes = rest;
        }
        portions
    }
}
