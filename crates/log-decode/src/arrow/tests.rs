// SPDX-License-Identifier: Apache-2.0
use super::{table, Utf8, CHUNK_ROWS};

table! {
    /// A column of each kind that most tables have.
    "mixed" => MixedRows, Mixed {
        text: Option<Utf8>,
        number: Option<u64>,
        flag: Option<bool>,
        always: i64,
        never: Option<f64>,
    }
}

/// Chunks in which a column is one text, or null, share its views; others do not, and the text may change later.
#[test]
fn chunks_of_one_text_share_it() {
    let text = |at: usize| match at / CHUNK_ROWS {
        0..=2 => Some("a text that is longer than its view"),
        3 => Some(TEXTS[at % 2]),
        4 => None,
        _ => Some("another"),
    };
    let mut rows = MixedRows::new(&super::Outlet::default());
    let count = 6 * CHUNK_ROWS + 10;
    for at in 0..count {
        rows.push(Mixed {
            text: text(at),
            ..Mixed::default()
        });
    }
    let table = rows.finish().unwrap();
    for (at, found) in table.lines(&["text"]).iter().enumerate() {
        assert_eq!(*found, text(at).unwrap_or_default(), "row {at}");
    }
    let views = |chunk: usize| {
        table.chunks[chunk].columns[0].buffers[1]
            .as_ref()
            .unwrap()
            .as_ptr()
    };
    let shared = [(0, 1), (1, 2), (5, 6)];
    assert!(shared
        .iter()
        .all(|&(one, other)| views(one) == views(other)));
    assert!((3..6).all(|chunk| views(chunk) != views(chunk - 1)));
}

const TEXTS: [&str; 4] = [
    "",
    "up",
    "twelve bytes",
    "a text that is longer than its view",
];

/// Nulls before the first value and between others; texts that repeat, change, and return.
fn row(at: usize) -> Mixed<'static> {
    Mixed {
        text: (at > 2 && at % 7 > 1).then(|| TEXTS[at / 3 % TEXTS.len()]),
        number: (at > 100 && at % 5 > 0).then_some(at as u64),
        flag: (at % 3 > 0).then_some(at % 2 == 0),
        always: i64::try_from(at).unwrap(),
        never: None,
    }
}

fn line(row: &Mixed<'_>) -> String {
    let number = row.number.map(|number| number.to_string());
    let flag = row.flag.map(|flag| flag.to_string());
    let (text, always) = (row.text.unwrap_or_default(), row.always);
    let (number, flag) = (number.unwrap_or_default(), flag.unwrap_or_default());
    format!("{text}|{number}|{flag}|{always}|")
}

#[test]
fn a_table_holds_what_was_pushed_over_several_chunks() {
    let mut rows = MixedRows::new(&super::Outlet::default());
    assert!(rows.is_empty() && MixedRows::empty().rows() == 0);
    let count = CHUNK_ROWS + 1000;
    for at in 0..count {
        rows.push(row(at));
    }
    let table = rows.finish().unwrap();
    assert_eq!((table.chunks.len(), table.rows()), (2, count));
    let lines = table.lines(&["text", "number", "flag", "always", "never"]);
    for (at, found) in lines.iter().enumerate() {
        assert_eq!(*found, line(&row(at)), "row {at}");
    }
    let texts = &table.chunks[0].columns[0];
    let nulls = (0..CHUNK_ROWS).filter(|&at| row(at).text.is_none()).count();
    assert_eq!((texts.len, texts.null_count), (CHUNK_ROWS, nulls));
}
