// SPDX-License-Identifier: Apache-2.0
//! The dynamic table of HPACK (RFC 7541 section 2.3.2) and QPACK (RFC 9204 section 3.2).

use super::cursor::FieldError;
use std::collections::VecDeque;

/// The largest table that is kept; the programs that we know announce at most 64 KiB.
const MAX_CAPACITY: u64 = 1 << 20;
/// Size of an entry beside its texts (RFC 7541 section 4.1).
const ENTRY_OVERHEAD: usize = 32;

#[derive(Debug)]
struct Entry {
    text: Box<[u8]>,
    name_bytes: usize,
}

impl Entry {
    fn size(&self) -> usize {
        self.text.len().saturating_add(ENTRY_OVERHEAD)
    }
}

/// Entries in the order of their insertion.
#[derive(Debug, Default)]
pub(super) struct DynamicTable {
    entries: VecDeque<Entry>,
    size: usize,
    capacity: usize,
    evicted: u64,
}

impl DynamicTable {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Number of entries that were ever inserted.
    pub(super) fn inserted(&self) -> u64 {
        self.evicted.saturating_add(self.entries.len() as u64)
    }

    pub(super) fn set_capacity(&mut self, capacity: u64) -> Result<(), FieldError> {
        self.capacity = usize::try_from(capacity)
            .ok()
            .filter(|_| capacity <= MAX_CAPACITY)
            .ok_or(FieldError::TableSize)?;
        self.evict(0);
        Ok(())
    }

    /// Append an entry; one that is larger than the whole table only empties it (RFC 7541 section 4.4).
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let entry = Entry {
            text: [name, value].concat().into_boxed_slice(),
            name_bytes: name.len(),
        };
        self.evict(entry.size());
        if entry.size() <= self.capacity {
            self.size += entry.size();
            self.entries.push_back(entry);
        }
    }

    /// Make room for so many bytes.
    fn evict(&mut self, room: usize) {
        while self.size.saturating_add(room) > self.capacity {
            let Some(entry) = self.entries.pop_front() else {
                break;
            };
            self.size -= entry.size();
            self.evicted = self.evicted.saturating_add(1);
        }
    }

    /// Name and value of the entry that was inserted after `index` others.
    pub(super) fn absolute(&self, index: u64) -> Result<(&[u8], &[u8]), FieldError> {
        let at = index.checked_sub(self.evicted).ok_or(FieldError::Index)?;
        let at = usize::try_from(at).map_err(|_| FieldError::Index)?;
        let entry = self.entries.get(at).ok_or(FieldError::Index)?;
        entry
            .text
            .split_at_checked(entry.name_bytes)
            .ok_or(FieldError::Index)
    }

    /// The entry that `index` others followed.
    pub(super) fn relative(&self, index: u64) -> Result<(&[u8], &[u8]), FieldError> {
        let behind = index.checked_add(1).ok_or(FieldError::Index)?;
        self.absolute(
            self.inserted()
                .checked_sub(behind)
                .ok_or(FieldError::Index)?,
        )
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }
}
