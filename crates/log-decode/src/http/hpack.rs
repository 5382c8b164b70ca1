// SPDX-License-Identifier: Apache-2.0
//! HPACK (RFC 7541): the header compression of HTTP/2.

use super::cursor::{Cursor, FieldError};
use super::dynamic_table::DynamicTable;
use super::fields::Fields;
use super::static_tables;
use std::borrow::Cow;

/// Both ends start with it (RFC 9113 section 6.5.2).
const INITIAL_CAPACITY: usize = 4096;

/// The state of one direction.
#[derive(Debug)]
pub(super) struct Decoder {
    table: DynamicTable,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            table: DynamicTable::with_capacity(INITIAL_CAPACITY),
        }
    }
}

impl Decoder {
    /// Decode a whole field block (section 6); after an error the state is lost for good.
    pub(super) fn decode(&mut self, block: &[u8], fields: &mut Fields) -> Result<(), FieldError> {
        let mut cursor = Cursor(block);
        while let Some(first) = cursor.byte() {
            match first {
                0x80.. => {
                    let (name, value) = self.entry(cursor.integer(first, 7)?)?;
                    fields.push(name, value);
                }
                0x40..=0x7f => {
                    let name = self.name(&mut cursor, first, 6)?.into_owned();
                    let value = cursor.whole_string()?;
                    fields.push(&name, &value);
                    self.table.insert(&name, &value);
                }
                0x20..=0x3f => self.table.set_capacity(cursor.integer(first, 5)?)?,
                0x00..=0x1f => {
                    let name = self.name(&mut cursor, first, 4)?;
                    fields.push(&name, &cursor.whole_string()?);
                }
            }
        }
        Ok(())
    }

    fn entry(&self, index: u64) -> Result<(&[u8], &[u8]), FieldError> {
        let at = usize::try_from(index)
            .ok()
            .and_then(|index| index.checked_sub(1))
            .ok_or(FieldError::Index)?;
        match static_tables::HPACK.get(at) {
            Some((name, value)) => Ok((name.as_bytes(), value.as_bytes())),
            None => self
                .table
                .relative((at - static_tables::HPACK.len()) as u64),
        }
    }

    fn name<'s, 'b: 's>(
        &'s self,
        cursor: &mut Cursor<'b>,
        first: u8,
        bits: u32,
    ) -> Result<Cow<'s, [u8]>, FieldError> {
        match cursor.integer(first, bits)? {
            0 => cursor.whole_string(),
            index => Ok(Cow::Borrowed(self.entry(index)?.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Fields};
    use crate::http::cursor::FieldError;
    use crate::http::testing::hex;

    /// Decode blocks one after the other; the field lines as `name: value`, and the table's size.
    fn decode_all(blocks: &[&str]) -> (Vec<Vec<String>>, usize) {
        let mut decoder = Decoder::default();
        let sections = blocks
            .iter()
            .map(|block| {
                let mut fields = Fields::default();
                decoder.decode(&hex(block), &mut fields).unwrap();
                fields
                    .iter()
                    .map(|(name, value)| format!("{name}: {value}"))
                    .collect()
            })
            .collect();
        (sections, decoder.table.size())
    }

    /// RFC 7541 Appendix C.2.
    #[test]
    fn representations_of_the_rfc() {
        for (block, line, size) in [
            (
                "400a637573746f6d2d6b65790d637573746f6d2d686561646572",
                "custom-key: custom-header",
                55,
            ),
            ("040c2f73616d706c652f70617468", ":path: /sample/path", 0),
            ("100870617373776f726406736563726574", "password: secret", 0),
            ("82", ":method: GET", 0),
        ] {
            assert_eq!(decode_all(&[block]), (vec![vec![line.to_owned()]], size));
        }
    }

    const REQUESTS: [&[&str]; 3] = [
        &[
            ":method: GET",
            ":scheme: http",
            ":path: /",
            ":authority: www.example.com",
        ],
        &[
            ":method: GET",
            ":scheme: http",
            ":path: /",
            ":authority: www.example.com",
            "cache-control: no-cache",
        ],
        &[
            ":method: GET",
            ":scheme: https",
            ":path: /index.html",
            ":authority: www.example.com",
            "custom-key: custom-value",
        ],
    ];

    /// RFC 7541 Appendix C.3 and C.4.
    #[test]
    fn requests_of_the_rfc() {
        for blocks in [
            [
                "828684410f7777772e6578616d706c652e636f6d",
                "828684be58086e6f2d6361636865",
                "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
            ],
            [
                "828684418cf1e3c2e5f23a6ba0ab90f4ff",
                "828684be5886a8eb10649cbf",
                "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
            ],
        ] {
            let (sections, size) = decode_all(&blocks);
            assert_eq!(sections, REQUESTS);
            assert_eq!(size, 164);
        }
    }

    /// RFC 7541 Appendix C.5 and C.6: a table of 256 bytes, so that entries are evicted.
    #[test]
    fn responses_of_the_rfc() {
        let expected: [&[&str]; 3] = [
            &[
                ":status: 302",
                "cache-control: private",
                "date: Mon, 21 Oct 2013 20:13:21 GMT",
                "location: https://www.example.com",
            ],
            &[
                ":status: 307",
                "cache-control: private",
                "date: Mon, 21 Oct 2013 20:13:21 GMT",
                "location: https://www.example.com",
            ],
            &[
                ":status: 200",
                "cache-control: private",
                "date: Mon, 21 Oct 2013 20:13:22 GMT",
                "location: https://www.example.com",
                "content-encoding: gzip",
                "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            ],
        ];
        for blocks in [
            [
                // The size update to 256 stands before the first block.
                "3fe1014803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d",
                "4803333037c1c0bf",
                "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
            ],
            [
                "3fe101488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
                "4883640effc1c0bf",
                "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            ],
        ] {
            let (sections, size) = decode_all(&blocks);
            assert_eq!(sections, expected);
            assert_eq!(size, 215);
        }
    }

    /// An index of no entry, a table of any size, a block that is cut.
    #[test]
    fn hostile_blocks_are_refused() {
        for (block, error) in [
            ("80", FieldError::Index),
            ("be", FieldError::Index),
            ("ffffffffffffffffff7f", FieldError::Integer),
            ("3fe1ffffff7f", FieldError::TableSize),
            ("400a6375", FieldError::Incomplete(8)),
        ] {
            let found = Decoder::default().decode(&hex(block), &mut Fields::default());
            assert_eq!(found, Err(error), "{block}");
        }
    }

    /// One byte may stand for a long entry: what is kept of a section is bounded, and it says so.
    #[test]
    fn a_header_bomb_is_cut() {
        let mut decoder = Decoder::default();
        let mut block = vec![0x40, 0x01, b'a', 0x7f, 0xa1, 0x1e];
        block.extend([b'x'; 4000]);
        block.extend(vec![0xbe; 100_000]);
        let mut fields = Fields::default();
        decoder.decode(&block, &mut fields).unwrap();
        assert!(fields.cut);
        assert!(fields.iter().map(|(_, value)| value.len()).sum::<usize>() <= 1 << 18);
    }
}
