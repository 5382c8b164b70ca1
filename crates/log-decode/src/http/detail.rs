// SPDX-License-Identifier: Apache-2.0
//! The column `detail` of the table `http_frames`: one JSON object of bounded length.

use super::fields::Fields;
use crate::{Severity, Stats};
use std::fmt::{Display, Write};

/// Longest text of one row; a cell of a table holds 4096 bytes.
const MAX_BYTES: usize = 4000;

/// A JSON object, written member by member.
#[derive(Debug, Default)]
pub(super) struct Detail {
    text: String,
    /// True if something was left out.
    cut: bool,
}

impl Detail {
    fn name(&mut self, name: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push_str(&quoted(name));
        self.text.push(':');
    }

    pub(super) fn number(&mut self, name: &str, value: impl Display) {
        if self.has_room(name.len()) {
            self.name(name);
            // Writing to a string does not fail.
            let _ = write!(self.text, "{value}");
        }
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        let value = quoted(value);
        if self.has_room(name.len().saturating_add(value.len())) {
            self.name(name);
            self.text.push_str(&value);
        }
    }

    /// Write the fields as pairs, because names may come again and their order counts.
    pub(super) fn fields(&mut self, fields: &Fields) {
        self.cut |= fields.cut;
        self.name("fields");
        self.text.push('[');
        for (name, value) in fields.iter() {
            let (name, value) = (quoted(name), quoted(value));
            if !self.has_room(name.len().saturating_add(value.len())) {
                break;
            }
            if !self.text.ends_with('[') {
                self.text.push(',');
            }
            let _ = write!(self.text, "[{name},{value}]");
        }
        self.text.push(']');
    }

    /// Say in the log's findings that something was left out.
    pub(super) fn count_cut(&self, stats: &mut Stats) {
        if self.cut {
            stats.count(
                "http_detail_cut",
                Severity::Notice,
                "header fields or a text of more than 4 KB: the column detail holds the first ones",
            );
        }
    }

    /// The object; `None` if there is nothing to say.
    pub(super) fn finish(mut self) -> Option<String> {
        if self.cut {
            self.name("cut");
            self.text.push_str("true");
        }
        (!self.text.is_empty()).then(|| self.text + "}")
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        let has_room = self.text.len().saturating_add(bytes) <= MAX_BYTES;
        self.cut |= !has_room;
        has_room
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Detail, Fields};

    /// A detail stays JSON whatever stands in the fields, and what is too long is left out and says so.
    #[test]
    fn it_is_bounded_json() {
        let mut fields = Fields::default();
        fields.push(b"a\"\\", "\u{1}\u{fffd}".as_bytes());
        fields.push(b"long", &[b'x'; 10_000]);
        let mut detail = Detail::default();
        detail.number("weight", 3);
        detail.fields(&fields);
        let text = detail.finish().unwrap();
        assert!(text.len() < 4096);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"weight": 3, "fields": [["a\"\\", "\u{1}\u{fffd}"]], "cut": true})
        );
        assert_eq!(Detail::default().finish(), None);
    }
}
