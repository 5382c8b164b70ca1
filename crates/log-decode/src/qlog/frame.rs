// SPDX-License-Identifier: Apache-2.0
//! One frame of a packet, in the words of any dialect.

use super::names::FrameType;
use super::unread::Unread;
use crate::json::{Fault, Kind, Reader, Span};

/// One frame; what a dialect calls its fields is settled here.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame {
    pub kind: FrameType,
    /// The frame's own name, where its type is none of the known ones.
    pub name: Span,
    pub stream_id: Option<u64>,
    pub offset: Option<u64>,
    pub length: Option<u64>,
    pub fin: Option<bool>,
    /// A limit, an error code, a sequence number.
    pub value: Option<u64>,
    pub unidirectional: bool,
    pub ack_delay: Option<f64>,
    /// The counts of ECT(0), ECT(1) and CE.
    pub ecn: [Option<u64>; 3],
    /// Range of its ranges in [`Store::ranges`].
    pub ranges: (u32, u32),
    /// Range of its other members in [`Store::details`].
    pub details: (u32, u32),
    /// True if `unidirectional` is told, and not merely not said.
    pub stream_type_told: bool,
}

/// Lists of the frames of one event.
#[derive(Default)]
pub(super) struct Store {
    /// Acknowledged ranges.
    pub ranges: Vec<(u64, u64)>,
    /// qlog's name, and the value, of a member that no column holds.
    pub details: Vec<(&'static str, Span)>,
    /// Members that are not read.
    pub unread: Unread,
}

/// Members of frames that go into the column `detail`, by the draft's names.
fn detail_name(key: &[u8]) -> Option<&'static str> {
    Some(match key {
        b"final_size" => "final_size",
        b"reliable_size" => "reliable_size",
        b"retire_prior_to" => "retire_prior_to",
        b"connection_id" => "connection_id",
        b"error_space" => "error_space",
        b"reason" => "reason",
        b"reason_bytes" => "reason_bytes",
        b"trigger_frame_type" => "trigger_frame_type",
        b"data" => "data",
        _ => return None,
    })
}

impl Frame {
    pub(super) fn read(reader: &mut Reader<'_>, store: &mut Store) -> Result<Self, Fault> {
        let start = position(&store.details);
        let mut frame = Self::default();
        // The whole frame, which OpenSSL gives beside the length of its data.
        let mut whole = None;
        let (mut error, mut name, mut type_number) = (None, None, None);
        let mut inside = reader.enter(b'{')?;
        while let Some(key) = reader.next_key(&mut inside)? {
            match key {
                b"frame_type" => {
                    reader.impossible += u64::from(reader.peek()? != b'"');
                    if let Some(name) = reader.optional_text()? {
                        let text = name.of(reader.text());
                        frame.kind = FrameType::of(text);
                        frame.name = name;
                        frame.unidirectional |= text.ends_with(b"uni") || text.ends_with(b"unidir");
                        frame.stream_type_told |= frame.unidirectional
                            || text.ends_with(b"bidi")
                            || text.ends_with(b"bidir");
                    }
                }
                b"stream_id" | b"id" => frame.stream_id = reader.unsigned()?,
                b"offset" => frame.offset = reader.unsigned()?,
                b"length" | b"len" => whole = reader.unsigned()?,
                b"payload_length" => frame.length = reader.unsigned()?,
                b"raw" if reader.kind()? == Kind::Object => {
                    let (whole_length, payload_length) = read_raw(reader)?;
                    frame.length = payload_length.or(whole_length).or(frame.length);
                }
                b"fin" => frame.fin = reader.boolean()?,
                b"ack_delay" => frame.ack_delay = reader.float()?,
                b"ect0" => frame.ecn[0] = reader.unsigned()?,
                b"ect1" => frame.ecn[1] = reader.unsigned()?,
                b"ce" => frame.ecn[2] = reader.unsigned()?,
                b"acked_ranges" => frame.ranges = read_ranges(reader, &mut store.ranges)?,
                b"maximum" | b"limit" | b"maximum_data" | b"max_streams" | b"data_limit"
                | b"stream_limit" | b"sequence_number" | b"sequence" => {
                    frame.value = reader.unsigned()?;
                }
                b"error_code" | b"raw_error_code" | b"error_code_value" | b"error_code_bytes" => {
                    // A name, or a number; where both stand, the number is it.
                    if reader.kind()? == Kind::Number {
                        error = reader.unsigned()?;
                    } else if let Some(name) = reader.optional_string()? {
                        error = error.or_else(|| crate::json::number::unsigned(name));
                    }
                }
                b"stream_type" => {
                    let name = reader.optional_string()?.unwrap_or_default();
                    frame.unidirectional |= name.starts_with(b"uni");
                    frame.stream_type_told |= name.starts_with(b"uni") || name.starts_with(b"bi");
                }
                b"frame_type_bytes" | b"frame_type_value" | b"raw_frame_type" => {
                    type_number = reader.unsigned()?;
                }
                b"error" => name = reader.optional_text()?,
                key => {
                    if let Some(name) = detail_name(key) {
                        let value = reader.value()?;
                        store.details.push((name, value));
                    } else {
                        store.unread.count(b"frame", key);
                        reader.skip()?;
                    }
                }
            }
        }
        // The number of a frame whose type has no name.
        let unnamed = type_number.filter(|_| frame.kind == FrameType::Unknown);
        frame.value = frame.value.or(error).or(unnamed);
        frame.length = frame.length.or(whole);
        if let Some(name) = name.filter(|_| frame.value.is_none()) {
            store.details.push(("error", name));
        }
        frame.details = (start, position(&store.details));
        Ok(frame)
    }
}

fn position<T>(stored: &[T]) -> u32 {
    u32::try_from(stored.len()).unwrap_or(u32::MAX)
}

/// `length` and `payload_length` of what is there in bytes.
pub(super) fn read_raw(reader: &mut Reader<'_>) -> Result<(Option<u64>, Option<u64>), Fault> {
    let (mut length, mut payload_length) = (None, None);
    let mut inside = reader.enter(b'{')?;
    while let Some(key) = reader.next_key(&mut inside)? {
        match key {
            b"length" => length = reader.unsigned()?,
            b"payload_length" => payload_length = reader.unsigned()?,
            _ => drop(reader.skip()?),
        }
    }
    Ok((length, payload_length))
}

/// `[n]`, `[first, last]` or plain `n`, any number of them; where they stand in `ranges`.
fn read_ranges(reader: &mut Reader<'_>, ranges: &mut Vec<(u64, u64)>) -> Result<(u32, u32), Fault> {
    let start = position(ranges);
    if reader.kind()? != Kind::Array {
        // Some write one range as text.
        reader.skip()?;
        return Ok((start, start));
    }
    let mut inside = reader.enter(b'[')?;
    while reader.next_item(&mut inside)? {
        let mut bounds = [None, None];
        if reader.kind()? == Kind::Array {
            let mut range = reader.enter(b'[')?;
            let mut at = 0;
            while reader.next_item(&mut range)? {
                let bound = reader.unsigned()?;
                if let Some(slot) = bounds.get_mut(at) {
                    *slot = bound;
                }
                at += 1;
            }
        } else {
            bounds[0] = reader.unsigned()?;
        }
        if let Some(first) = bounds[0] {
            let last = bounds[1].unwrap_or(first);
            ranges.push((first.min(last), first.max(last)));
        }
    }
    Ok((start, position(ranges)))
}
