// SPDX-License-Identifier: Apache-2.0
//! HAR 1.2 (<http://www.softwareishard.com/blog/har-12-spec/>) with the fields that browsers and sitespeed.io add to
//! it.
//!
//! An entry tells when it began and how long each of its phases took, one after the other; -1 means that there was
//! none.

mod phases;
mod time;

use crate::json::{members, Broken, Scanner};
use crate::tables::{HttpRequest, PageEvent, Tables};
use crate::{Clock, DecodeError, Input, Options, Severity, Source};
use phases::Phases;
use serde_json::Value;
use std::io::BufRead;

const FORMAT: &str = "HAR";
const NS_PER_MS: f64 = 1e6;

/// Decode a HAR file. With `realtime_minus_monotonic_ns` its times are mapped to `CLOCK_MONOTONIC`; without it they
/// stay `CLOCK_REALTIME`.
///
/// # Errors
/// If the input cannot be read, or is no JSON document with a `log` that has entries or pages.
pub fn decode(
    input: &Input,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let mut archive = Archive {
        monotonic: options.realtime_minus_monotonic_ns,
        writers: [None, None, None],
        found: false,
        text: vec![],
        tables,
    };
    let outcome = members(&mut Scanner::new(input.open()?), |scanner, key| {
        if key == b"\"log\"" {
            archive.log(scanner)
        } else {
            scanner.value(None).map(drop)
        }
    });
    match outcome {
        Err(Broken::Io(error)) => return Err(error.into()),
        _ if !archive.found => {
            return Err(DecodeError::foreign(
                FORMAT,
                "it has no `log` with entries or pages",
            ));
        }
        Err(Broken::Syntax) => archive.tables.count(
            "truncated_log",
            Severity::DataLoss,
            "the document ends or breaks off here: what came after is missing",
        ),
        Ok(()) => {}
    }
    let unsaid = "HAR tells when the response began, not when its body did";
    archive
        .tables
        .cannot_tell("http_requests", Some("first_byte_ns"), unsaid);
    Ok(Source {
        dialect: (archive.writers.into_iter().flatten().collect::<Vec<_>>()).join(", "),
        clock: if archive.monotonic.is_some() {
            Clock::Monotonic
        } else {
            Clock::Realtime
        },
        resolution_ns: 1_000_000,
        realtime_minus_monotonic_ns: None,
    })
}

struct Archive<'t> {
    monotonic: Option<i64>,
    /// Version, creator and browser, whichever is told first.
    writers: [Option<String>; 3],
    found: bool,
    text: Vec<u8>,
    tables: &'t mut Tables,
}

impl Archive<'_> {
    fn log<R: BufRead>(&mut self, scanner: &mut Scanner<R>) -> Result<(), Broken> {
        members(scanner, |scanner, key| match key {
            b"\"entries\"" | b"\"pages\"" if scanner.peek()? != b'[' => {
                self.count_malformed();
                scanner.value(None).map(drop)
            }
            b"\"entries\"" => {
                self.found = true;
                scanner.elements(b']', |scanner| self.each(scanner, Self::entry))
            }
            b"\"pages\"" => {
                self.found = true;
                scanner.elements(b']', |scanner| self.each(scanner, Self::page))
            }
            b"\"version\"" | b"\"creator\"" | b"\"browser\"" => {
                scanner.value(Some(&mut self.text))?;
                let writer: Value = serde_json::from_slice(&self.text).unwrap_or_default();
                let name = writer["name"].as_str().or(writer.as_str());
                let version = writer["version"].as_str().unwrap_or_default();
                let place = match key {
                    b"\"version\"" => 0,
                    b"\"creator\"" => 1,
                    _ => 2,
                };
                if let (Some(name), Some(writer)) = (name, self.writers.get_mut(place)) {
                    let name: String = format!("{name} {version}").chars().take(80).collect();
                    writer.get_or_insert(name.trim().to_owned());
                }
                Ok(())
            }
            _ => scanner.value(None).map(drop),
        })
    }

    fn each<R: BufRead>(
        &mut self,
        scanner: &mut Scanner<R>,
        take: fn(&mut Self, &Value) -> Option<()>,
    ) -> Result<(), Broken> {
        if !scanner.value(Some(&mut self.text))? {
            self.tables.count(
                "record_too_long",
                Severity::DataLoss,
                "a single entry of more than 16 MiB was skipped",
            );
            return Ok(());
        }
        let taken = serde_json::from_slice(&self.text)
            .ok()
            .and_then(|value| take(self, &value));
        if taken.is_none() {
            self.count_malformed();
        }
        Ok(())
    }

    fn count_malformed(&mut self) {
        self.tables.count(
            "malformed_entry",
            Severity::DataLoss,
            "an entry or page without a valid startedDateTime, or with something else in its place",
        );
    }

    /// The instant at which an entry or a page began.
    fn started_ns(&self, item: &Value) -> Option<i64> {
        let epoch_ns = time::parse(item["startedDateTime"].as_str()?)?;
        epoch_ns.checked_sub(self.monotonic.unwrap_or_default())
    }

    fn page(&mut self, page: &Value) -> Option<()> {
        let start = self.started_ns(page)?;
        let id = page["id"].as_str();
        self.tables.page_events.push(PageEvent {
            time_ns: start,
            page: id,
            name: "navigationStart",
            detail: page["title"].as_str(),
            ..PageEvent::default()
        });
        let timings = &page["pageTimings"];
        if !timings.is_object() && !timings.is_null() {
            self.count_malformed();
        }
        let timings = timings.as_object().into_iter().flatten();
        for (name, ms) in timings {
            if !ms.is_number() && !ms.is_null() {
                self.count_malformed();
            }
            let Some(time_ns) = ms
                .as_f64()
                .filter(|&ms| ms >= 0.0)
                .and_then(|ms| after(start, ms))
            else {
                continue;
            };
            self.tables.page_events.push(PageEvent {
                time_ns,
                page: id,
                name: name.trim_start_matches('_'),
                ..PageEvent::default()
            });
        }
        Some(())
    }

    fn entry(&mut self, entry: &Value) -> Option<()> {
        let start = self.started_ns(entry)?;
        let (request, response) = (&entry["request"], &entry["response"]);
        let phases = Phases::new(start, entry);
        let version = [&response["httpVersion"], &request["httpVersion"]]
            .into_iter()
            .find_map(|text| http_version(text.as_str()?));
        let size = |value: &Value| value.as_f64().filter(|&bytes| bytes >= 0.0).map(whole);
        // Header sizes are those before compression, which only HTTP/1.1 does without.
        let header = |value: &Value| size(value).filter(|_| version == Some("HTTP/1.1"));
        let transferred = size(&response["_transferSize"])
            .map(|bytes| bytes.saturating_sub(size(&response["headersSize"]).unwrap_or_default()));
        let (first, last) = (
            entry["_initialPriority"].as_str(),
            entry["_priority"].as_str(),
        );
        let status = response["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok())
            .filter(|&status| status > 0);
        let cached = entry["_fromCache"].is_string()
            || entry["_fromCache"] == true
            || response["_fromDiskCache"] == true;
        let connection = entry["connection"]
            .as_str()
            .filter(|id| !id.is_empty() && *id != "0");
        let error = response["_error"]
            .as_str()
            .or(entry["_error"].as_str())
            .filter(|error| !error.is_empty());
        self.tables.http_requests.push(HttpRequest {
            connection,
            time_ns: start,
            transport: version.map(|version| if version == "HTTP/3" { "quic" } else { "tcp" }),
            http_version: version,
            method: request["method"].as_str(),
            url: request["url"]
                .as_str()
                .map(|url| url.split('#').next().unwrap_or_default()),
            status,
            content_type: response["content"]["mimeType"]
                .as_str()
                .filter(|kind| !kind.is_empty()),
            content_encoding: field(response, "content-encoding"),
            resource_type: entry["_resourceType"].as_str(),
            priority: first.or(last),
            priority_updated: last.filter(|&last| first.is_some_and(|first| first != last)),
            initiator: entry["_initiator"]["url"]
                .as_str()
                .map(|url| url.split('#').next().unwrap_or_default())
                .filter(|url| !url.is_empty()),
            queued_ns: Some(start),
            name_start_ns: phases.name.map(|(start, _)| start),
            name_end_ns: phases.name.map(|(_, end)| end),
            connect_start_ns: phases.connect.map(|(start, _)| start),
            secure_start_ns: phases.secure_start,
            connect_end_ns: phases.connect.map(|(_, end)| end),
            send_start_ns: phases.send.map(|(start, _)| start),
            send_end_ns: phases.send.map(|(_, end)| end),
            headers_ns: phases.headers,
            last_byte_ns: phases.last,
            request_header_bytes: header(&request["headersSize"]),
            request_body_bytes: size(&request["bodySize"]),
            response_header_bytes: header(&response["headersSize"]),
            response_body_bytes: size(&response["bodySize"]).or(transferred),
            response_decoded_bytes: size(&response["content"]["size"]),
            from_cache: cached.then_some(true),
            error,
            ..HttpRequest::default()
        });
        Some(())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and then the sum does not exist"
)]
fn after(start: i64, ms: f64) -> Option<i64> {
    start.checked_add((ms * NS_PER_MS).round() as i64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

/// A header field of a message.
fn field<'a>(message: &'a Value, name: &str) -> Option<&'a str> {
    let fields = message["headers"].as_array()?;
    let field = fields.iter().find(|field| {
        field["name"]
            .as_str()
            .is_some_and(|known| known.eq_ignore_ascii_case(name))
    })?;
    field["value"].as_str().filter(|value| !value.is_empty())
}

fn http_version(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let version = text.trim_start_matches("http/").trim_start_matches('h');
    Some(match version {
        "1.1" => "HTTP/1.1",
        "1.0" => "HTTP/1.0",
        "2" | "2.0" => "HTTP/2",
        "3" | "3.0" => "HTTP/3",
        draft if draft.starts_with("3-") => "HTTP/3",
        "ttp/2+quic/46" => "HTTP/3",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
