// SPDX-License-Identifier: Apache-2.0
//! Outline of a JSON document: the names of its members, two levels deep, in any order.

use super::{Fault, Stop, Walker};
use crate::Input;
use std::io::{self, Read};

/// Members that tell a format: they stand first in an outline.
const TELLING: [&str; 5] = [
    "constants",
    "log",
    "qlog_version",
    "file_schema",
    "traceEvents",
];
const MAX_MEMBERS: usize = 64;
const MAX_NAME_BYTES: usize = 64;
const RECORD_SEPARATOR: u8 = 0x1e;

/// The outline of a document, or of the first record of several: itself JSON, in which numbers stand for all values
/// that are neither objects nor arrays. As much as can be read of what is cut short; empty for what is no JSON.
///
/// # Errors
/// If the input cannot be read.
pub fn outline(input: &Input) -> io::Result<String> {
    let mut plain = input.open()?;
    if plain.fill_buf()?.first() == Some(&RECORD_SEPARATOR) {
        plain.consume(1);
    }
    let mut walker = Walker::new(plain);
    let first = match walker.peek() {
        Ok(first) => first,
        Err(Stop::Io(error)) => return Err(error),
        Err(_) => return Ok(String::new()),
    };
    let mut found = Vec::new();
    let outcome = match first {
        b'{' => members(&mut walker, &mut found, true),
        // The first item tells what the others are.
        b'[' => walker.items(|walker| {
            if walker.peek()? == b'{' {
                members(walker, &mut found, false)?;
            }
            Err(Stop::Fault(Fault::End))
        }),
        _ => return Ok(String::new()),
    };
    if let Err(Stop::Io(error)) = outcome {
        return Err(error);
    }
    found.sort_by_key(|(name, _)| {
        let place = TELLING.iter().position(|telling| telling == name);
        place.unwrap_or(TELLING.len())
    });
    let text = object(&found);
    Ok(if first == b'[' {
        format!("[{text}]")
    } else {
        text
    })
}

/// Names of members with outlines of their values.
type Members = Vec<(String, String)>;

fn object(members: &Members) -> String {
    let texts: Vec<String> = (members.iter())
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", texts.join(","))
}

fn members<R: Read>(
    walker: &mut Walker<R>,
    found: &mut Members,
    with_inner: bool,
) -> Result<(), Stop> {
    walker.object(|walker, key| {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte);
        let is_name = key.len() <= MAX_NAME_BYTES && key.iter().all(is_plain);
        let kind = walker.peek()?;
        let mut inner = Members::new();
        let outcome = if kind == b'{' && with_inner {
            members(walker, &mut inner, false)
        } else {
            walker.skip()
        };
        let name = String::from_utf8_lossy(key).into_owned();
        let is_telling = TELLING.contains(&name.as_str());
        if is_name && (found.len() < MAX_MEMBERS || is_telling && found.len() < 2 * MAX_MEMBERS) {
            let value = match kind {
                b'{' => object(&inner),
                b'[' => "[]".to_owned(),
                _ => "0".to_owned(),
            };
            found.push((name, value));
        }
        outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        outline(&Input::bytes(text.as_bytes())).unwrap()
    }

    /// Members that tell a format come first, however much stands before them in the document.
    #[test]
    fn telling_members_stand_first() {
        let long = "[1, {\"log\": 2}],".repeat(100_000);
        let text = format!(
            "{{\"a\\\"b\": 1, \"comment\": \"}}\", \"events\": [{long} 3], \"log\": {{\"version\": \"1.2\", \"entries\": []}}, \"constants\": {{}}}}"
        );
        assert_eq!(
            of(&text),
            r#"{"constants":{},"log":{"version":0,"entries":[]},"comment":0,"events":[]}"#
        );
    }

    #[test]
    fn sequences_arrays_and_what_is_cut_have_outlines() {
        assert_eq!(
            of("\u{1e}{\"title\": 1, \"qlog_version\": \"0.3\"}\n\u{1e}{}"),
            r#"{"qlog_version":0,"title":0}"#
        );
        assert_eq!(
            of(r#"[{"args": {"x": [1]}, "ph": "X", "cat": "c"}, {"y""#),
            r#"[{"args":{},"ph":0,"cat":0}]"#
        );
        assert_eq!(of(r#"{"traces": [{"a": 1}"#), r#"{"traces":[]}"#);
        for text in ["", "x", "7", "\"x\"", "{", "[", "{]"] {
            assert!(["", "{}", "[{}]"].contains(&of(text).as_str()), "{text}");
        }
    }
}
