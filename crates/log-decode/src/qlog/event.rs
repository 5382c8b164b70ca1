// SPDX-License-Identifier: Apache-2.0
//! One event, read in one pass whatever the order of its members: packets with all their frames, and of every other
//! event its members as they are written, for the modules that know what they mean.

use super::frame::{read_raw, Frame, Store};
use super::names::packet_type;
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

/// Endings of events that programs write for every packet and no table holds: their data are not
/// taken apart.
const NOT_TABLED: &[u8] = b"data_moved";

/// Members that the drafts' closed data have no place for, and that therefore stand beside them.
const BESIDE: [&[u8]; 4] = [b"reason", b"limit", b"ready_bytes", b"inferred"];

/// Origin that a time counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimeKind {
    #[default]
    AsTheTraceSays,
    Relative,
    Delta,
}

impl TimeKind {
    /// Kind of time that a single event says of its own.
    fn of(format: Option<&[u8]>) -> Option<Self> {
        match format? {
            b"relative_to_epoch" | b"relative" => Some(Self::Relative),
            b"relative_to_previous_event" | b"delta" => Some(Self::Delta),
            _ => None,
        }
    }
}

/// The members that become rows. It is used again for every event, so nothing of it is a borrow.
#[derive(Default)]
pub(super) struct Event {
    pub time: Option<(TimeKind, Span)>,
    /// The event's name, with its namespace from qlog 0.3 on.
    pub name: Span,
    pub group_id: Option<Span>,
    pub trigger: Option<Span>,
    pub packet: Packet,
    /// Length of what the event is about, without its header.
    pub payload_length: Option<u64>,
    pub frames: Vec<Frame>,
    /// Lists of its frames, and what is not read.
    pub store: Store,
    /// Key and value of every other member of its data.
    pub members: Vec<(Span, Span)>,
    has_name: bool,
    time_format: Option<TimeKind>,
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

impl Event {
    fn clear(&mut self) {
        self.time = None;
        self.name = Span::default();
        self.group_id = None;
        self.trigger = None;
        self.packet = Packet::default();
        self.payload_length = None;
        self.frames.clear();
        self.store.ranges.clear();
        self.store.details.clear();
        self.members.clear();
        self.has_name = false;
        self.time_format = None;
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
        if let (Some(told), Some((kind, _))) = (self.time_format, &mut self.time) {
            *kind = told;
        }
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
        while let Some((key, name)) = reader.next_key_at(&mut inside)? {
            if BESIDE.contains(&key) {
                let value = reader.value()?;
                self.members.push((name, value));
                continue;
            }
            let field = match key {
                b"time" => Field::Time(TimeKind::AsTheTraceSays),
                b"time_format" => {
                    self.time_format = TimeKind::of(reader.optional_string()?);
                    continue;
                }
                b"name" => Field::Name,
                b"data" => Field::Data,
                _ => match Field::of(key) {
                    // A kind of packet, not the event's name.
                    Field::Name if key != b"event" => Field::Other,
                    field => field,
                },
            };
            if field == Field::Other {
                self.store.unread.count(b"event", key);
            }
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
                reader.skip()?;
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
            // The event stays, with nothing said of it.
            reader.impossible += u64::from(reader.peek()? != b'n');
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
            // Connections are named after it, but no row has it.
            if !self.packet.read_member(reader, key)? || key == b"dcid" {
                self.store.unread.count(b"header", key);
            }
        }
        Ok(())
    }

    fn read_frames(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let mut inside = reader.enter(b'[')?;
        while reader.next_item(&mut inside)? {
            let frame = Frame::read(reader, &mut self.store)?;
            self.frames.push(frame);
        }
        Ok(())
    }
}

impl Packet {
    /// One member of a header; aioquic and the first drafts write some of them beside it.
    ///
    /// False for one that is not read.
    pub(super) fn read_member(
        &mut self,
        reader: &mut Reader<'_>,
        key: &[u8],
    ) -> Result<bool, Fault> {
        match key {
            b"packet_type" | b"type" => {
                self.packet_type = reader.optional_string()?.and_then(packet_type);
            }
            b"packet_number" => self.number = reader.unsigned()?,
            b"packet_size" => self.length = reader.unsigned()?.filter(|size| *size > 0),
            b"key_phase_bit" => self.key_phase = reader.boolean()?,
            b"dcid" => self.dcid = reader.optional_text()?,
            _ => {
                reader.skip()?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}
