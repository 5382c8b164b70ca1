// SPDX-License-Identifier: Apache-2.0
//! A decoded field section.

/// Text kept of one field section; small references to large entries could ask for any amount.
const MAX_TEXT_BYTES: usize = 1 << 18;
const MAX_FIELDS: usize = 4096;

/// Names and values in the order of the section, in one text.
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: String,
    /// Ends of each name and each value in the text.
    ends: Vec<(usize, usize)>,
    /// True if fields are missing because they were too many.
    pub cut: bool,
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.cut = false;
    }

    pub(super) fn push(&mut self, name: &[u8], value: &[u8]) {
        let bytes = name.len().saturating_add(value.len());
        if self.ends.len() >= MAX_FIELDS || bytes > MAX_TEXT_BYTES.saturating_sub(self.text.len()) {
            self.cut = true;
            return;
        }
        self.text.push_str(&String::from_utf8_lossy(name));
        let name_end = self.text.len();
        self.text.push_str(&String::from_utf8_lossy(value));
        self.ends.push((name_end, self.text.len()));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts
            .zip(&self.ends)
            .filter_map(|(start, &(middle, end))| {
                Some((self.text.get(start..middle)?, self.text.get(middle..end)?))
            })
    }

    /// The first value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find_map(|(found, value)| (found == name).then_some(value))
    }
}
