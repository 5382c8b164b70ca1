// SPDX-License-Identifier: Apache-2.0
//! One qlog a connection, named by the connection ID that the client chose first; what quinn writes wrongly is put
//! right on its way to the file.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use quinn::{ConnectionId, QlogConfig, QlogStream};
use serde_json::{json, Value};
use stack_common::failure::Failure;
use stack_common::logs;

use crate::reasons::Window;

/// Begins each record of a JSON text sequence (RFC 7464); a line feed ends it.
const RECORD: u8 = 0x1e;

/// The log of one connection: what quinn writes to, and a way to add events of our own.
pub struct Log {
    pub stream: QlogStream,
    pub events: Events,
}

/// Adds events to a log.
#[derive(Clone)]
pub struct Events {
    file: Arc<Mutex<dyn Records>>,
    start_time: Instant,
}

impl Events {
    /// Write an event of the current drafts.
    pub fn add(&self, now: Instant, name: &str, data: &Value) {
        let time = now.saturating_duration_since(self.start_time).as_secs_f64() * 1e3;
        if let Ok(mut file) = self.file.lock() {
            // A full disk costs the log, not the transfer.
            let _ = file.record(&json!({"time": time, "name": name, "data": data}));
        }
    }
}

trait Records: Send {
    fn record(&mut self, record: &Value) -> io::Result<()>;
}

/// Events go through a buffer that is written out when it is full and when the connection is gone.
pub fn stream(
    folder: &Path,
    original: ConnectionId,
    role: &'static str,
) -> Result<Option<Log>, Failure> {
    let file = logs::qlog(folder, original, role)?;
    let since_epoch = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let start_time = Instant::now();
    let trace = json!({
        "vantage_point": {"type": role},
        "common_fields": {
            "group_id": original.to_string(),
            "protocol_type": ["QUIC"],
            "time_format": "relative",
            "reference_time": since_epoch.as_secs_f64() * 1e3,
        },
    });
    let corrected = Arc::new(Mutex::new(Corrected {
        trace,
        record: Vec::new(),
        window: Window::default(),
        file: BufWriter::with_capacity(1 << 16, file),
    }));
    let mut config = QlogConfig::default();
    config
        .writer(Box::new(Shared(Arc::clone(&corrected))))
        .title(Some(format!("quiclab-quinn {role}")))
        .start_time(start_time);
    let events = Events {
        file: corrected,
        start_time,
    };
    Ok(config.into_stream().map(|stream| Log { stream, events }))
}

/// quinn's end of the file.
struct Shared<W: Write + Send>(Arc<Mutex<Corrected<W>>>);

impl<W: Write + Send> Write for Shared<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(poisoned)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().map_err(poisoned)?.flush()
    }
}

fn poisoned<T>(_: PoisonError<T>) -> io::Error {
    io::Error::other("a thread failed while it wrote the log")
}

/// quinn does not say whose log it is nor when it began, changes the group in the middle of a connection, puts the
/// size of a packet where that of its payload belongs, writes round-trip times in seconds, and calls every loss one by
/// reordering.
struct Corrected<W: Write + Send> {
    trace: Value,
    record: Vec<u8>,
    window: Window,
    file: W,
}

impl<W: Write + Send> Write for Corrected<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.record.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.pass_on()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<W: Write + Send> Corrected<W> {
    fn pass_on(&mut self) -> io::Result<()> {
        let text = self.record.strip_prefix(&[RECORD]).unwrap_or(&self.record);
        let mut record: Value = serde_json::from_slice(text)?;
        self.record.clear();
        if record.get("trace").is_some() {
            record["trace"] = self.trace.take();
        } else {
            correct(&mut record);
        }
        self.record(&record)?;
        match self.window.hear(&record) {
            Some(event) => self.record(&event),
            None => Ok(()),
        }
    }
}

impl<W: Write + Send> Records for Corrected<W> {
    fn record(&mut self, record: &Value) -> io::Result<()> {
        self.file.write_all(&[RECORD])?;
        serde_json::to_writer(&mut self.file, record)?;
        self.file.write_all(b"\n")
    }
}

fn correct(event: &mut Value) {
    let Some(members) = event.as_object_mut() else {
        return;
    };
    members.remove("group_id");
    let name = members
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let Some(data) = members.get_mut("data").and_then(Value::as_object_mut) else {
        return;
    };
    match name.as_str() {
        "recovery:metrics_updated" => {
            for member in ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"] {
                if let Some(seconds) = data.get(member).and_then(Value::as_f64) {
                    data.insert(member.to_owned(), (seconds * 1e3).into());
                }
            }
            // "None yet".
            if data.get("ssthresh").and_then(Value::as_u64) == Some(u64::MAX) {
                data.remove("ssthresh");
            }
        }
        "transport:packet_sent" | "recovery:packet_lost" => {
            data.remove("trigger");
            if let Some(length) = data
                .get_mut("header")
                .and_then(|header| header.as_object_mut()?.remove("length"))
            {
                data.insert("raw".to_owned(), json!({"length": length}));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(records: &[&str]) -> Vec<Value> {
        let mut log = Corrected {
            trace: json!({"vantage_point": {"type": "client"}}),
            record: Vec::new(),
            window: Window::default(),
            file: Vec::new(),
        };
        for record in records {
            // In pieces, as a serialiser writes.
            log.write_all(&[RECORD]).expect("begun");
            let (first, second) = record.split_at(record.len() / 2);
            log.write_all(first.as_bytes()).expect("first half");
            log.write_all(format!("{second}\n").as_bytes())
                .expect("second half");
        }
        let text = String::from_utf8(log.file).expect("text");
        text.lines()
            .map(|line| serde_json::from_str(line.trim_start_matches('\x1e')).expect(line))
            .collect()
    }

    #[test]
    fn the_header_says_whose_log_it_is() {
        let records =
            corrected(&[r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"unknown"}}}"#]);
        assert_eq!(
            records,
            [json!({"qlog_version": "0.3", "trace": {"vantage_point": {"type": "client"}}})]
        );
    }

    #[test]
    fn events_say_what_they_mean() {
        let records = corrected(&[
            r#"{"time":0.5,"name":"recovery:metrics_updated","data":{"min_rtt":0.25,"ssthresh":18446744073709551615},"group_id":"a"}"#,
            r#"{"time":1.0,"name":"transport:packet_sent","data":{"header":{"packet_number":7,"length":1200}},"group_id":"b"}"#,
            r#"{"time":1.5,"name":"recovery:packet_lost","data":{"header":{"packet_number":7},"trigger":"reordering_threshold"}}"#,
        ]);
        assert_eq!(
            records[0],
            json!({"time": 0.5, "name": "recovery:metrics_updated", "data": {"min_rtt": 250.0}})
        );
        assert_eq!(
            records[1]["data"],
            json!({"header": {"packet_number": 7}, "raw": {"length": 1200}})
        );
        assert_eq!(records[2]["data"], json!({"header": {"packet_number": 7}}));
    }
}
