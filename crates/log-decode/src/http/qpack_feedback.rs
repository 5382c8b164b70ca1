// SPDX-License-Identifier: Apache-2.0
//! The decoder stream of QPACK (RFC 9204 section 4.4): what the decoding end says of the sections and inserts it got.

use super::cursor::{Cursor, FieldError};
use crate::tables::Tables;
use crate::Severity;

/// No instruction is longer.
const MAX_INSTRUCTION_BYTES: usize = 10;

/// One instruction of a decoder stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    SectionAcknowledgment,
    StreamCancellation,
    InsertCountIncrement,
}

impl Instruction {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, FieldError> {
        let first = cursor.byte().ok_or(FieldError::Incomplete(1))?;
        match first {
            0x80.. => cursor
                .integer(first, 7)
                .map(|_| Self::SectionAcknowledgment),
            0x40..=0x7f => cursor.integer(first, 6).map(|_| Self::StreamCancellation),
            0x00..=0x3f => match cursor.integer(first, 6)? {
                0 => Err(FieldError::InsertCount),
                _ => Ok(Self::InsertCountIncrement),
            },
        }
    }

    fn count(self, tables: &mut Tables) {
        let (name, advice) = match self {
            Self::SectionAcknowledgment => (
                "qpack_section_acknowledgments",
                "header sections with references to the dynamic table that the other end reports as decoded",
            ),
            Self::StreamCancellation => (
                "qpack_stream_cancellations",
                "streams whose header sections the other end says it will no longer decode",
            ),
            Self::InsertCountIncrement => (
                "qpack_insert_count_increments",
                "instructions by which the other end says that inserts have arrived",
            ),
        };
        tables.count(name, Severity::Info, advice);
    }
}

/// One decoder stream.
#[derive(Debug, Default)]
pub(super) struct Feedback {
    /// The start of an instruction that is not whole yet.
    unread: Vec<u8>,
    broken: bool,
}

impl Feedback {
    /// The next bytes of the stream.
    pub(super) fn read(&mut self, bytes: &[u8], tables: &mut Tables) {
        if self.broken {
            return;
        }
        self.unread.extend_from_slice(bytes);
        let unread = std::mem::take(&mut self.unread);
        let mut cursor = Cursor(&unread);
        while !cursor.is_empty() {
            let start = cursor;
            match Instruction::read(&mut cursor) {
                Ok(instruction) => instruction.count(tables),
                Err(FieldError::Incomplete(_)) if start.0.len() < MAX_INSTRUCTION_BYTES => {
                    self.unread = start.0.to_vec();
                    return;
                }
                Err(_) => {
                    self.broken = true;
                    tables.count(
                        "qpack_decoder_stream_broken",
                        Severity::Notice,
                        "a decoder stream that is not as RFC 9204 asks: its further instructions are not counted",
                    );
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Feedback;
    use crate::http::testing::hex;
    use crate::tables::Tables;

    fn counted(tables: &Tables) -> [u64; 4] {
        [
            "qpack_section_acknowledgments",
            "qpack_stream_cancellations",
            "qpack_insert_count_increments",
            "qpack_decoder_stream_broken",
        ]
        .map(|name| tables.stats.get(name))
    }

    /// The instructions of RFC 9204 Appendix B, and one with a stream of several bytes, in portions of every size.
    #[test]
    fn instructions_are_counted_by_kind() {
        let stream = hex("84 01 48 ff8101 7f00 3f00");
        for portion in 1..=stream.len() {
            let (mut feedback, mut tables) = (Feedback::default(), Tables::default());
            for bytes in stream.chunks(portion) {
                feedback.read(bytes, &mut tables);
            }
            assert_eq!(counted(&tables), [2, 2, 2, 0], "{portion}");
        }
    }

    /// An increment of nothing, or an integer without end, is told once, and nothing is counted after it.
    #[test]
    fn what_is_no_instruction_is_told() {
        for broken in ["00 84", "ff ffffffffffffffffffffff 84"] {
            let (mut feedback, mut tables) = (Feedback::default(), Tables::default());
            feedback.read(&hex(broken), &mut tables);
            feedback.read(&hex("84"), &mut tables);
            assert_eq!(counted(&tables), [0, 0, 0, 1]);
        }
    }
}
