// SPDX-License-Identifier: Apache-2.0
//! One event, read in one pass whatever the order of its members: packets with all their frames, and of every other
//! event its members as they are written, for whoever knows what they mean.

use super::names::{packet_type, FrameType};
use crate::json::{Fault, Kind, Reader, Span};

/// The members of an event before 0.3, which stand in an array, in the order of the trace's `event_fields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Time(TimeKind),
    Category,
    Name,
    Trigger,
    Data,
    GroupId,
    Other,
}

impl Field {
    pub(super) fn of(name: &[u8]) -> Self {
        match name.to_ascii_lowercase().as_slice() {
            b"time" => Self::Time(TimeKind::AsTheTraceSays),
            b"relative_time" => Self::Time(TimeKind::Relative),
            b"delta_time" => Self::Time(TimeKind::Delta),
            b"category" => Self::Category,
            b"event" | b"event_type" | b"type" | b"name" => Self::Name,
            b"trigger" => Self::Trigger,
            b"data" => Self::Data,
            b"group_id" | b"odcid" | b"group_ids" => Self::GroupId,
            _ => Self::Other,
        }
    }
}

/// How the events end that programs write for every packet and no table holds: their data are not taken apart.
const NOT_TABLED: &[u8] = b"data_moved";

/// What a time counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimeKind {
    #[default]
    AsTheTraceSays,
    Relative,
    Delta,
}

/// The members that become rows. It is used again for every event, so nothing of it is a borrow.
#[derive(Default)]
pub(super) struct Event {
    pub time: Option<(TimeKind, Span)>,
    /// With its namespace from 0.3 on.
    pub name: Span,
    pub group_id: Option<Span>,
    pub trigger: Option<Span>,
    pub packet: Packet,
    /// Of what the event is about, without its header.
    pub payload_length: Option<u64>,
    pub frames: Vec<Frame>,
    /// Acknowledged ranges of all frames.
    pub ranges: Vec<(u64, u64)>,
    /// Key and value of every other member of its data.
    pub members: Vec<(Span, Span)>,
    has_name: bool,
}

/// A packet's header and size.
#[derive(Default)]
#[expect(clippy::struct_field_names, reason = "`type` is no name in Rust")]
pub(super) struct Packet {
    pub packet_type: Option<&'static str>,
    pub number: Option<u64>,
    pub length: Option<u64>,
    pub key_phase: Option<bool>,
    pub dcid: Option<Span>,
}

/// One frame; what a dialect calls its fields is settled here.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame {
    pub kind: FrameType,
    /// Its own name, of a type that is none of the known ones.
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
    /// Where its ranges stand in [`Event::ranges`].
    pub ranges: (u32, u32),
}

impl Event {
    fn clear(&mut self) {
        self.time = None;
        self.name = Span::default();
        self.group_id = None;
        self.trigger = None;
        self.packet = Packet::default();
        self.payload_length = None;
        self.frames.clear();
        self.ranges.clear();
        self.members.clear();
        self.has_name = false;
    }

    /// A member of the data.
    pub(super) fn member(&self, text: &[u8], key: &[u8]) -> Option<Span> {
        let found = self.members.iter().find(|(name, _)| name.of(text) == key);
        found.map(|(_, value)| *value)
    }

    /// Read the event that stands next; `fields` are those of the trace, if it has any.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, fields: &[Field]) -> Result<(), Fault> {
        self.clear();
        let is_array = reader.kind()? == Kind::Array;
        let start = reader.position();
        if is_array {
            self.read_array(reader, fields)
        } else {
            self.read_object(reader)
        }?;
        // The converters of old drafts end a trace with an empty event.
        let is_empty = is_array && reader.text().get(start..reader.position()) == Some(b"[]");
        if self.has_name || is_empty {
            Ok(())
        } else {
            Err(Fault::Syntax)
        }
    }

    fn read_object(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let mut inside = reader.enter(b'{')?;
        while let Some(key) = reader.next_key(&mut inside)? {
            let field = match key {
                b"time" => Field::Time(TimeKind::AsTheTraceSays),
                b"name" => Field::Name,
                b"data" => Field::Data,
                _ => match Field::of(key) {
                    // A kind of packet, not the event's name.
                    Field::Name if key != b"event" => Field::Other,
                    field => field,
                },
            };
            self.read_field(reader, field)?;
        }
        Ok(())
    }

    fn read_array(&mut self, reader: &mut Reader<'_>, fields: &[Field]) -> Result<(), Fault> {
        let mut inside = reader.enter(b'[')?;
        let mut fields = fields.iter();
        while reader.next_item(&mut inside)? {
            self.read_field(reader, fields.next().copied().unwrap_or(Field::Other))?;
        }
        Ok(())
    }

    fn read_field(&mut self, reader: &mut Reader<'_>, field: Field) -> Result<(), Fault> {
        match field {
            Field::Time(kind) => {
                let value = if reader.kind()? == Kind::Text {
                    reader.optional_text()?
                } else {
                    Some(reader.value()?)
                };
                self.time = value.map(|value| (kind, value));
            }
            Field::Name => {
                if let Some(name) = reader.optional_text()? {
                    self.name = name;
                    self.has_name = true;
                }
            }
            Field::Data if self.name.of(reader.text()).ends_with(NOT_TABLED) => {
                drop(reader.skip()?)
            }
            Field::Data => self.read_data(reader)?,
            Field::GroupId => self.group_id = reader.optional_text()?,
            Field::Trigger => self.trigger = reader.optional_text()?,
            Field::Category | Field::Other => drop(reader.skip()?),
        }
        Ok(())
    }

    fn read_data(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        if reader.kind()? != Kind::Object {
            return reader.skip().map(drop);
        }
        let mut inside = reader.enter(b'{')?;
        while let Some((key, name)) = reader.next_key_at(&mut inside)? {
            match key {
                b"header" => self.read_header(reader)?,
                b"frames" => self.read_frames(reader)?,
                b"raw" if reader.kind()? == Kind::Object => {
                    let (length, payload_length) = read_raw(reader)?;
                    self.packet.length = length.or(self.packet.length);
                    self.payload_length = payload_length;
                }
                b"trigger" => self.trigger = reader.optional_text()?.or(self.trigger),
                _ => {
                    let value = reader.value()?;
                    self.members.push((name, value));
                }
            }
        }
        Ok(())
    }

    fn read_header(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        if reader.kind()? != Kind::Object {
            return reader.skip().map(drop);
        }
        let mut inside = reader.enter(b'{')?;
        while let Some(key) = reader.next_key(&mut inside)? {
            self.packet.read_member(reader, key)?;
        }
        Ok(())
    }

    fn read_frames(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let mut inside = reader.enter(b'[')?;
        while reader.next_item(&mut inside)? {
            let frame = Frame::read(reader, &mut self.ranges)?;
            self.frames.push(frame);
        }
        Ok(())
    }
}

impl Packet {
    /// One member of a header; aioquic and the first drafts write some of them beside it.
    pub(super) fn read_member(&mut self, reader: &mut Reader<'_>, key: &[u8]) -> Result<(), Fault> {
        match key {
            b"packet_type" | b"type" => {
                self.packet_type = reader.optional_string()?.and_then(packet_type);
            }
            b"packet_number" => self.number = reader.unsigned()?,
            b"packet_size" => self.length = reader.unsigned()?.filter(|size| *size > 0),
            b"key_phase_bit" => self.key_phase = reader.boolean()?,
            b"dcid" => self.dcid = reader.optional_text()?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    }
}

impl Frame {
    fn read(reader: &mut Reader<'_>, ranges: &mut Vec<(u64, u64)>) -> Result<Self, Fault> {
        let mut frame = Self::default();
        // The whole frame, which OpenSSL gives beside the length of its data.
        let mut whole = None;
        let mut error = None;
        let mut inside = reader.enter(b'{')?;
        while let Some(key) = reader.next_key(&mut inside)? {
            match key {
                b"frame_type" => {
                    if let Some(name) = reader.optional_text()? {
                        let text = name.of(reader.text());
                        frame.kind = FrameType::of(text);
                        frame.name = name;
                        frame.unidirectional |= text.ends_with(b"uni") || text.ends_with(b"unidir");
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
                b"acked_ranges" => frame.ranges = read_ranges(reader, ranges)?,
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
                    frame.unidirectional |= reader
                        .optional_string()?
                        .is_some_and(|name| name.starts_with(b"uni"));
                }
                _ => drop(reader.skip()?),
            }
        }
        frame.value = frame.value.or(error);
        frame.length = frame.length.or(whole);
        Ok(frame)
    }
}

/// `length` and `payload_length` of what is there in bytes.
fn read_raw(reader: &mut Reader<'_>) -> Result<(Option<u64>, Option<u64>), Fault> {
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
    let position = |ranges: &Vec<_>| u32::try_from(ranges.len()).unwrap_or(u32::MAX);
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
