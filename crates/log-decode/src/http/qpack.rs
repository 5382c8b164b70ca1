// SPDX-License-Identifier: Apache-2.0
//! QPACK (RFC 9204): the field compression of HTTP/3.

use super::cursor::{Cursor, FieldError};
use super::dynamic_table::DynamicTable;
use super::fields::Fields;
use super::static_tables;
use std::borrow::Cow;

/// Least size of an entry (RFC 9204 section 3.2.1).
const MIN_ENTRY_BYTES: u64 = 32;
/// The longest single instruction on an encoder stream.
const MAX_INSTRUCTION_BYTES: usize = 1 << 20;

/// Entries that the encoder of one direction has inserted.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    table: DynamicTable,
    /// Largest table that the decoding end allows; unknown before its SETTINGS.
    max_capacity: Option<u64>,
    /// The start of an instruction that is not whole yet.
    unread: Vec<u8>,
    /// Length of `unread` below which the instruction cannot be whole.
    wanted: usize,
    /// Instructions were lost or wrong: the table grows no more.
    broken: bool,
}

/// The start of a field section (RFC 9204 section 4.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub required_insert_count: u64,
    base: u64,
    bytes: usize,
}

impl Decoder {
    /// `SETTINGS_QPACK_MAX_TABLE_CAPACITY` of the end that decodes.
    pub(super) fn set_max_capacity(&mut self, capacity: u64) {
        self.max_capacity = Some(capacity);
    }

    /// Take the capacity that the encoder uses for the largest that it may use, where no SETTINGS were seen.
    pub(super) fn assume_max_capacity(&mut self) {
        self.max_capacity
            .get_or_insert(self.table.capacity() as u64);
    }

    /// Number of entries that were inserted.
    pub(super) fn inserted(&self) -> u64 {
        self.table.inserted()
    }

    /// No more is to be had from the encoder stream.
    pub(super) fn break_off(&mut self) {
        self.broken = true;
        self.unread = Vec::new();
    }

    /// Bytes of the encoder stream (RFC 9204 section 4.3).
    pub(super) fn encoder_stream(&mut self, bytes: &[u8]) -> Result<(), FieldError> {
        if self.broken {
            return Ok(());
        }
        self.unread.extend_from_slice(bytes);
        let unread = std::mem::take(&mut self.unread);
        let result = self.instructions(&unread);
        match result {
            Ok(read) => {
                self.unread = unread;
                self.unread.drain(..read);
                Ok(())
            }
            Err(error) => {
                self.break_off();
                Err(error)
            }
        }
    }

    /// Follow all whole instructions; how many bytes they took.
    fn instructions(&mut self, bytes: &[u8]) -> Result<usize, FieldError> {
        let mut read = 0;
        while let Some(rest) = bytes.get(read..).filter(|rest| !rest.is_empty()) {
            if rest.len() < self.wanted {
                break;
            }
            let mut cursor = Cursor(rest);
            match self.instruction(&mut cursor) {
                Ok(()) => {
                    read = bytes.len() - cursor.0.len();
                    self.wanted = 0;
                }
                Err(FieldError::Incomplete(missing)) => {
                    self.wanted = rest.len().saturating_add(missing);
                    if self.wanted > MAX_INSTRUCTION_BYTES {
                        return Err(FieldError::TableSize);
                    }
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn instruction(&mut self, cursor: &mut Cursor<'_>) -> Result<(), FieldError> {
        let first = cursor.byte().ok_or(FieldError::Incomplete(1))?;
        match first {
            0x80.. => {
                let index = cursor.integer(first, 6)?;
                let value = cursor.whole_string()?;
                let name = if first & 0x40 == 0 {
                    self.table.relative(index)?.0.to_vec()
                } else {
                    static_entry(index)?.0.to_vec()
                };
                self.insert(&name, &value)
            }
            0x40..=0x7f => {
                let name = cursor.string(first, 5)?;
                let value = cursor.whole_string()?;
                self.insert(&name, &value)
            }
            0x20..=0x3f => self.table.set_capacity(cursor.integer(first, 5)?),
            0x00..=0x1f => {
                let (name, value) = self.table.relative(cursor.integer(first, 5)?)?;
                let (name, value) = (name.to_vec(), value.to_vec());
                self.insert(&name, &value)
            }
        }
    }

    fn insert(&mut self, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
        let before = self.inserted();
        self.table.insert(name, value);
        // An entry larger than the table is an error here (RFC 9204 section 3.2.2), and indices would be wrong after
        // it.
        if self.inserted() == before + 1 {
            Ok(())
        } else {
            Err(FieldError::TableSize)
        }
    }

    /// The prefix of a section that arrives now; `None` as long as the SETTINGS are missing that it needs.
    pub(super) fn prefix(&self, section: &[u8]) -> Result<Option<Prefix>, FieldError> {
        let mut cursor = Cursor(section);
        let first = cursor.byte().ok_or(FieldError::Incomplete(1))?;
        let encoded = cursor.integer(first, 8)?;
        let Some(required) = self.required_insert_count(encoded)? else {
            return Ok(None);
        };
        let first = cursor.byte().ok_or(FieldError::Incomplete(1))?;
        let delta = cursor.integer(first, 7)?;
        let base = if first & 0x80 == 0 {
            required.checked_add(delta)
        } else {
            required
                .checked_sub(delta)
                .and_then(|base| base.checked_sub(1))
        };
        Ok(Some(Prefix {
            required_insert_count: required,
            base: base.ok_or(FieldError::InsertCount)?,
            bytes: section.len() - cursor.0.len(),
        }))
    }

    /// RFC 9204 section 4.5.1.1.
    fn required_insert_count(&self, encoded: u64) -> Result<Option<u64>, FieldError> {
        if encoded == 0 {
            return Ok(Some(0));
        }
        let Some(max_capacity) = self.max_capacity else {
            return Ok(None);
        };
        let max_entries = max_capacity / MIN_ENTRY_BYTES;
        let range = max_entries
            .checked_mul(2)
            .filter(|&range| encoded <= range)
            .ok_or(FieldError::InsertCount)?;
        let most = self
            .inserted()
            .checked_add(max_entries)
            .ok_or(FieldError::InsertCount)?;
        let wrapped = most / range * range;
        let required = wrapped
            .checked_add(encoded - 1)
            .ok_or(FieldError::InsertCount)?;
        let required = if required > most {
            required.checked_sub(range).ok_or(FieldError::InsertCount)?
        } else {
            required
        };
        if required == 0 {
            return Err(FieldError::InsertCount);
        }
        Ok(Some(required))
    }

    /// Decode a section whose required inserts are there (RFC 9204 section 4.5).
    pub(super) fn decode(
        &self,
        section: &[u8],
        prefix: Prefix,
        fields: &mut Fields,
    ) -> Result<(), FieldError> {
        let mut cursor = Cursor(section.get(prefix.bytes..).unwrap_or_default());
        while let Some(first) = cursor.byte() {
            match first {
                0x80.. => {
                    let index = cursor.integer(first, 6)?;
                    let (name, value) = self.entry(first & 0x40 != 0, prefix.base, index)?;
                    fields.push(name, value);
                }
                0x40..=0x7f => {
                    let index = cursor.integer(first, 4)?;
                    let (name, _) = self.entry(first & 0x10 != 0, prefix.base, index)?;
                    fields.push(name, &cursor.whole_string()?);
                }
                0x20..=0x3f => {
                    let name: Cow<'_, [u8]> = cursor.string(first, 3)?;
                    fields.push(&name, &cursor.whole_string()?);
                }
                0x10..=0x1f => {
                    let index = cursor.integer(first, 4)?;
                    let (name, value) = self.post_base(prefix.base, index)?;
                    fields.push(name, value);
                }
                0x00..=0x0f => {
                    let index = cursor.integer(first, 3)?;
                    let (name, _) = self.post_base(prefix.base, index)?;
                    fields.push(name, &cursor.whole_string()?);
                }
            }
        }
        Ok(())
    }

    fn entry(&self, is_static: bool, base: u64, index: u64) -> Result<(&[u8], &[u8]), FieldError> {
        if is_static {
            return static_entry(index);
        }
        let absolute = base
            .checked_sub(index)
            .and_then(|next| next.checked_sub(1))
            .ok_or(FieldError::Index)?;
        self.table.absolute(absolute)
    }

    fn post_base(&self, base: u64, index: u64) -> Result<(&[u8], &[u8]), FieldError> {
        self.table
            .absolute(base.checked_add(index).ok_or(FieldError::Index)?)
    }
}

fn static_entry(index: u64) -> Result<(&'static [u8], &'static [u8]), FieldError> {
    let (name, value) = usize::try_from(index)
        .ok()
        .and_then(|index| static_tables::QPACK.get(index))
        .ok_or(FieldError::Index)?;
    Ok((name.as_bytes(), value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{Decoder, FieldError, Fields};
    use crate::http::testing::hex;

    /// The field lines of a section that can be decoded now.
    fn section(decoder: &Decoder, encoded: &str) -> Result<Vec<String>, FieldError> {
        let encoded = hex(encoded);
        let prefix = decoder.prefix(&encoded)?.expect("the SETTINGS are known");
        assert!(prefix.required_insert_count <= decoder.inserted());
        let mut fields = Fields::default();
        decoder.decode(&encoded, prefix, &mut fields)?;
        Ok(fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect())
    }

    const AUTHORITY_AND_PATH: &str =
        "3fbd01 c00f7777772e6578616d706c652e636f6d c10c2f73616d706c652f70617468";
    const CUSTOM: &str = "4a637573746f6d2d6b65790c637573746f6d2d76616c7565";

    /// RFC 9204 Appendix B, in order, with the encoder stream in portions of every size.
    #[test]
    fn the_exchange_of_the_rfc() {
        for portion in 1..60 {
            let mut decoder = Decoder::default();
            decoder.set_max_capacity(220);
            let encoder_stream = |decoder: &mut Decoder, text: &str| {
                for bytes in hex(text).chunks(portion) {
                    decoder.encoder_stream(bytes).unwrap();
                }
            };
            assert_eq!(
                section(&decoder, "0000510b2f696e6465782e68746d6c").unwrap(),
                [":path: /index.html"]
            );

            let blocked = decoder.prefix(&hex("03811011")).unwrap().unwrap();
            assert_eq!(blocked.required_insert_count, 2);
            encoder_stream(&mut decoder, AUTHORITY_AND_PATH);
            assert_eq!(decoder.table.size(), 106);
            assert_eq!(
                section(&decoder, "03811011").unwrap(),
                [":authority: www.example.com", ":path: /sample/path"]
            );

            encoder_stream(&mut decoder, CUSTOM);
            assert_eq!(decoder.table.size(), 160);
            encoder_stream(&mut decoder, "02");
            assert_eq!(decoder.table.size(), 217);
            assert_eq!(
                section(&decoder, "050080c181").unwrap(),
                [
                    ":authority: www.example.com",
                    ":path: /",
                    "custom-key: custom-value"
                ]
            );

            encoder_stream(&mut decoder, "810d637573746f6d2d76616c756532");
            assert_eq!((decoder.table.size(), decoder.inserted()), (215, 5));
            assert_eq!(
                section(&decoder, "060080").unwrap(),
                ["custom-key: custom-value2"]
            );
        }
    }

    /// The insert count can be told with the decoder's SETTINGS, and not without them.
    #[test]
    fn sections_wait_for_the_settings() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.prefix(&hex("03811011")), Ok(None));
        assert!(decoder.prefix(&hex("0000")).unwrap().is_some());
        decoder.encoder_stream(&hex(AUTHORITY_AND_PATH)).unwrap();
        decoder.assume_max_capacity();
        assert_eq!(section(&decoder, "03811011").unwrap().len(), 2);
    }

    /// The insert count wraps around at twice the entries that fit (RFC 9204 section 4.5.1.1).
    #[test]
    fn the_insert_count_wraps() {
        let mut decoder = Decoder::default();
        decoder.set_max_capacity(100);
        decoder.encoder_stream(&hex("3f45")).unwrap();
        for _ in 0..10 {
            decoder.encoder_stream(&hex("4161 0162")).unwrap();
        }
        // The example of the RFC: with room for 3 entries and 10 inserted, an encoded 4 stands for 9.
        assert_eq!(
            decoder
                .prefix(&hex("0400"))
                .unwrap()
                .unwrap()
                .required_insert_count,
            9
        );
    }

    /// Wrong indices and counts, tables of any size, instructions without end: refused, and the table stays as it is.
    #[test]
    fn hostile_instructions_are_refused() {
        for (encoder_stream, error) in [
            ("80 00", FieldError::Index),
            ("ff24 00", FieldError::Index),
            ("3fe1ffffff7f", FieldError::TableSize),
            ("4161 0162", FieldError::TableSize),
            ("5fffffff7f", FieldError::TableSize),
            ("5fffffffffffffffffffff7f", FieldError::Integer),
        ] {
            let mut decoder = Decoder::default();
            assert_eq!(
                decoder.encoder_stream(&hex(encoder_stream)),
                Err(error),
                "{encoder_stream}"
            );
            assert_eq!(decoder.encoder_stream(&hex("3fbd01 4161 0162")), Ok(()));
            assert_eq!(decoder.inserted(), 0);
        }
        let mut decoder = Decoder::default();
        decoder.set_max_capacity(100);
        for encoded in [
            "ff00",
            "0000ff80ffffffffffffffff7f",
            "000080",
            "000010",
            "0180",
        ] {
            assert!(section(&decoder, encoded).is_err(), "{encoded}");
        }
    }
}
