// SPDX-License-Identifier: Apache-2.0
//! Traces and their events: an event either becomes all its rows or is counted.

use super::clock::{time_exponent, Clock};
use super::connection::{Connections, Ends};
use super::context::{Context, Followed, IMPOSSIBLE};
use super::dialect::Writer;
use super::dispatch::dispatch;
use super::event::{Event, Field};
use super::header::{FileHeader, TraceHeader};
use super::identity::Seen;
use super::unread::{members_read, Unread, TRIGGER};
use crate::json::{Fault, Reader};
use crate::tables::Tables;
use crate::{Clock as Placed, End, Options, Severity, Source};
use std::ops::Range;

const CUT: &str = "the log was cut short: the program did not close it";
const MALFORMED: &str = "a record that is not the JSON that its event's schema asks for";

/// Collects the rows of all traces of a file.
pub(super) struct Decoder<'t> {
    options: &'t Options,
    file: FileHeader,
    form: &'static str,
    unnamed_traces: usize,
    trace: Option<Trace>,
    dialects: Vec<String>,
    resolution_ns: u64,
    placed: Placed,
    event: Event,
    unread: Unread,
    tables: &'t mut Tables,
}

/// Facts that hold for all events of one trace.
struct Trace {
    name: String,
    ends: Ends,
    writer: Writer,
    fields: Vec<Field>,
    clock: Clock,
    /// Factor by which a length of time is multiplied to be milliseconds.
    to_ms: f64,
    connections: Connections,
    /// Events that were read.
    events: u64,
}

impl<'t> Decoder<'t> {
    /// `form`: how its records are put together.
    pub(super) fn new(
        options: &'t Options,
        file: FileHeader,
        form: &'static str,
        tables: &'t mut Tables,
    ) -> Self {
        Self {
            options,
            file,
            form,
            unnamed_traces: 0,
            trace: None,
            dialects: Vec::new(),
            resolution_ns: 1,
            placed: Placed::Monotonic,
            event: Event::default(),
            unread: Unread::default(),
            tables,
        }
    }

    /// Begin the trace of `header`; `seen` is what its first events tell.
    pub(super) fn start_trace(&mut self, header: &TraceHeader, seen: Seen) {
        self.end_trace();
        if self.file.is_of_unknown_version() {
            self.tables.count(
                "unknown_qlog_version",
                Severity::Notice,
                "a version of qlog that is not known: events are read as those of the known drafts",
            );
        }
        let writer = Writer::of(&self.file, header, seen.signs);
        let point = &header.vantage_point;
        let kind = point.kind.as_deref();
        let vantage = [End::Client, End::Server]
            .into_iter()
            .find(|end| kind.is_some_and(|kind| kind.eq_ignore_ascii_case(end.as_str())))
            // Where the log is silent, the folder in which it lies may tell.
            .or(self.options.vantage.filter(|_| kind.is_none()));
        if vantage.is_none() {
            self.tables.count(
                "no_vantage",
                Severity::Notice,
                "the log does not say whether it is the client's or the server's",
            );
        }
        let outbound = match (vantage, point.flow.as_deref()) {
            (Some(end), _) => Some(end.outbound()),
            (None, Some(flow)) if flow.eq_ignore_ascii_case("client") => Some("up"),
            (None, Some(flow)) if flow.eq_ignore_ascii_case("server") => Some("down"),
            _ => None,
        };
        let fields = &header.common_fields;
        let described = header
            .description
            .as_ref()
            .filter(|_| writer.describes_by_connection_id());
        let named = fields
            .group_id
            .as_ref()
            .or(fields.odcid.as_ref())
            .or(described);
        let named = named
            .filter(|name| !name.is_empty())
            .map(|name| connection_name(name));
        let name = named.or(seen.name).unwrap_or_else(|| self.number_trace());
        let dialect = self.dialect(writer, header);
        if self.dialects.len() < 8 && !self.dialects.contains(&dialect) {
            self.dialects.push(dialect);
        }
        let exponent = i32::try_from(time_exponent(header)).unwrap_or(6);
        self.trace = Some(Trace {
            name,
            ends: Ends {
                vantage: vantage.map(End::as_str),
                outbound,
            },
            writer,
            fields: header.fields(),
            clock: Clock::new(header, self.options.realtime_minus_monotonic_ns),
            to_ms: 10_f64.powi(exponent - 6),
            connections: Connections::default(),
            events: 0,
        });
    }

    fn dialect(&self, writer: Writer, header: &TraceHeader) -> String {
        let version = self.file.code_version.as_ref();
        let program = match version {
            Some(version) => format!("{} {version}", writer.name(header)),
            None => writer.name(header),
        };
        let events = self.file.version(header);
        let text = format!("{program}, {events}, {}", self.form);
        text.chars().take(160).collect()
    }

    /// A name for the connection of a trace without an id: nothing says that two such traces are about the same one.
    fn number_trace(&mut self) -> String {
        self.unnamed_traces += 1;
        format!("{}#{}", self.options.file_name, self.unnamed_traces)
    }

    fn end_trace(&mut self) {
        let Some(mut trace) = self.trace.take() else {
            return;
        };
        trace.connections.finish(trace.ends, self.tables);
        if trace.events == 0 {
            self.tables.count(
                "empty_trace",
                Severity::DataLoss,
                "a trace without any event that could be read: nothing is known of its connection",
            );
        }
        self.unread.finish(self.tables);
        self.event.store.unread.finish(self.tables);
        trace.writer.tell_lacks(self.tables);
        self.resolution_ns = self.resolution_ns.max(trace.clock.step_ns());
        self.tables.stats.add(
            "time_backwards",
            trace.clock.backwards,
            Severity::Notice,
            "an event that was logged before an earlier one: rows keep the order of the log",
        );
        if !trace.clock.has_epoch() {
            self.placed = Placed::OwnStart;
            self.tables.count(
                "no_epoch",
                Severity::Notice,
                "times count from the log's own start: join packets to a capture to place them",
            );
        } else if self.options.realtime_minus_monotonic_ns.is_none() {
            if self.placed == Placed::Monotonic {
                self.placed = Placed::Realtime;
            }
            self.tables.count(
                "no_clock_offset",
                Severity::Notice,
                "time_ns is CLOCK_REALTIME: its offset was not given",
            );
        }
    }

    pub(super) fn finish(mut self) -> Source {
        self.end_trace();
        Source {
            dialect: self.dialects.join("; "),
            clock: self.placed,
            resolution_ns: self.resolution_ns,
            realtime_minus_monotonic_ns: None,
        }
    }

    pub(super) fn count_cut(&mut self) {
        self.tables
            .count("truncated_record", Severity::DataLoss, CUT);
    }

    pub(super) fn count_malformed(&mut self) {
        self.tables
            .count("malformed_event", Severity::DataLoss, MALFORMED);
    }

    pub(super) fn count_too_long(&mut self) {
        self.tables.count(
            "record_too_long",
            Severity::DataLoss,
            "a single record of more than 16 MiB was skipped",
        );
    }

    pub(super) fn count_broken_document(&mut self) {
        self.tables.count(
            "broken_document",
            Severity::Error,
            "the document ends or breaks off here: events behind it are lost",
        );
    }

    /// Decode the event that stands next.
    ///
    /// # Errors
    /// If it is not JSON, or not what its schema asks for; nothing of it is kept then.
    pub(super) fn event(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let Self {
            trace: Some(trace),
            event,
            unread,
            tables,
            ..
        } = self
        else {
            return reader.skip().map(drop);
        };
        let read = Read::new(reader, event, &trace.fields);
        trace.take(event, reader.text(), &read, unread, tables)?;
        reader.impossible = 0;
        Ok(())
    }

    /// Members of the events of the trace.
    pub(super) fn fields(&self) -> Vec<Field> {
        let trace = self.trace.as_ref();
        trace.map_or_else(Vec::new, |trace| trace.fields.clone())
    }

    /// Count members that events were read without.
    pub(super) fn count_unread(&mut self, mut unread: Unread) {
        unread.finish(self.tables);
    }

    /// Take an event that has been read from `text`.
    ///
    /// # Errors
    /// See [`Self::event`].
    pub(super) fn take(&mut self, event: &Event, text: &[u8], read: &Read) -> Result<(), Fault> {
        (self.trace.as_mut()).map_or(Ok(()), |trace| {
            trace.take(event, text, read, &mut self.unread, self.tables)
        })
    }
}

impl Trace {
    /// The rows of an event.
    fn take(
        &mut self,
        event: &Event,
        text: &[u8],
        read: &Read,
        unread: &mut Unread,
        tables: &mut Tables,
    ) -> Result<(), Fault> {
        let trace = self;
        if read.result == Err(Fault::End) {
            return read.result;
        }
        // Deltas add up, so the time counts even if the rest is lost.
        let time_ns = event
            .time
            .and_then(|(kind, time)| trace.clock.time_ns(kind, time.of(text)));
        read.result?;
        let whole = text.get(read.place.clone()).unwrap_or_default();
        if !whole.is_ascii() && std::str::from_utf8(whole).is_err() {
            tables.count(
                "invalid_utf8",
                Severity::Notice,
                "a record with bytes that are not UTF-8, which JSON must be: it was left out",
            );
            return Err(Fault::Syntax);
        }
        let Some(time_ns) =
            time_ns.or_else(|| event.time.is_none().then(|| trace.clock.latest_ns()))
        else {
            return Err(Fault::Syntax);
        };
        let own = match event.group_id.map(|id| id.of(text)) {
            Some(id) if !id.is_empty() && id != trace.name.as_bytes() => {
                std::str::from_utf8(id).ok().map(connection_name)
            }
            _ => None,
        };
        let name = own.as_deref().unwrap_or(&trace.name);
        let connection = trace.connections.select(name, trace.ends, tables);
        tables.stats.add(
            "impossible_value",
            read.impossible,
            Severity::Notice,
            IMPOSSIBLE,
        );
        let mut followed = Followed::new(connection, trace.ends);
        let name = event.name.of(text);
        let short = memchr::memrchr(b':', name).map_or(name, |at| &name[at + 1..]);
        let context = Context {
            text,
            event,
            name: short,
            time_ns,
            who: followed.0,
            writer: trace.writer,
            to_ms: trace.to_ms,
        };
        dispatch(&context, &mut followed.1, tables);
        trace.events += 1;
        if let Some(read) = members_read(short) {
            if event.trigger.is_some() && !read.contains(&TRIGGER) {
                unread.count(short, TRIGGER);
            }
            for (key, _) in &event.members {
                let key = key.of(text);
                if !read.contains(&key) {
                    unread.count(short, key);
                }
            }
        }
        Ok(())
    }
}

/// Result of reading an event.
pub(super) struct Read {
    result: Result<(), Fault>,
    /// Range in the text in which it stands.
    place: Range<usize>,
    /// Values that cannot be.
    impossible: u64,
}

impl Read {
    /// Read the event that stands next.
    pub(super) fn new(reader: &mut Reader<'_>, event: &mut Event, fields: &[Field]) -> Self {
        let start = reader.position();
        let result = event.read(reader, fields);
        Self {
            result,
            place: start..reader.position(),
            impossible: reader.impossible,
        }
    }
}

/// A connection id in small letters if it is hexadecimal, else as it is.
fn connection_name(id: &str) -> String {
    if id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        id.to_ascii_lowercase()
    } else {
        id.chars().take(256).collect()
    }
}
