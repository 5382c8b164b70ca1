// SPDX-License-Identifier: Apache-2.0
//! Chrome's trace events: how a page loads, what was seen of it, and its requests as the renderer knows them.
//!
//! Format: "Trace Event Format" of Chromium's catapult, as an object with `traceEvents` or as an array that need not be
//! closed. Times are `base::TimeTicks` in microseconds: `CLOCK_MONOTONIC` on Linux.

mod event;
mod requests;

use crate::json::{members, Broken, Scanner};
use crate::tables::{PageEvent, Tables};
use crate::{base64, Clock, DecodeError, Input, Options, Severity, Source};
use event::Event;
use requests::Requests;
use serde::Deserialize;
use serde_json::Value;
use std::io::BufRead;

const FORMAT: &str = "trace of Chrome";
/// Images of one file, all together, that are kept.
const MAX_IMAGE_BYTES: usize = 64 << 20;
/// Longer arguments are left out: cut, they would be no JSON.
const MAX_DETAIL_BYTES: usize = 4096;

/// Events of other categories that tell of the load of a page.
const PAGE_EVENTS: [&str; 17] = [
    "navigationStart",
    "commitNavigationEnd",
    "firstPaint",
    "firstContentfulPaint",
    "firstMeaningfulPaint",
    "largestContentfulPaint::Candidate",
    "largestContentfulPaint::Invalidate",
    "LargestImagePaint::Candidate",
    "LayoutShift",
    "MarkDOMContent",
    "MarkLoad",
    "MarkFirstPaint",
    "MarkLCPCandidate",
    "InteractiveTime",
    "FrameStartedLoading",
    "FrameStoppedLoading",
    "TracingStartedInBrowser",
];

/// Facts that a trace says about itself.
#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default, rename = "clock-domain")]
    clock_domain: Option<String>,
    #[serde(default, rename = "product-version")]
    product_version: Option<String>,
    #[serde(default, rename = "os-name")]
    os_name: Option<String>,
}

struct Trace<'t> {
    metadata: Metadata,
    requests: Requests,
    image_bytes: usize,
    text: Vec<u8>,
    tables: &'t mut Tables,
}

/// Decode a trace.
///
/// # Errors
/// If the input cannot be read, or is neither an array of events nor an object with `traceEvents`.
pub fn decode(
    input: &Input,
    _options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let mut scanner = Scanner::new(input.open()?);
    let mut trace = Trace {
        metadata: Metadata::default(),
        requests: Requests::default(),
        image_bytes: 0,
        text: vec![],
        tables,
    };
    let mut found = false;
    let outcome = match scanner.peek() {
        Ok(b'[') => scanner.elements(b']', |scanner| trace.each(scanner, &mut found)),
        Ok(b'{') => members(&mut scanner, |scanner, key| match key {
            b"\"traceEvents\"" if scanner.peek()? == b'[' => {
                found = true;
                scanner.elements(b']', |scanner| trace.each(scanner, &mut true))
            }
            b"\"metadata\"" => {
                scanner.value(Some(&mut trace.text))?;
                trace.metadata = serde_json::from_slice(&trace.text).unwrap_or_default();
                Ok(())
            }
            _ => scanner.value(None).map(drop),
        }),
        Ok(_) => Err(Broken::Syntax),
        Err(broken) => Err(broken),
    };
    match outcome {
        Err(Broken::Io(error)) => return Err(error.into()),
        _ if !found => return Err(DecodeError::foreign(FORMAT, "it holds no trace events")),
        // An array may end anywhere: the format says so. What is cut off all the same cannot be known.
        Err(Broken::Syntax) => trace.tables.count(
            "truncated_log",
            Severity::DataLoss,
            "the trace was not closed: what may have come after is missing",
        ),
        Ok(()) => {}
    }
    Ok(trace.finish())
}

impl Trace<'_> {
    fn each<R: BufRead>(
        &mut self,
        scanner: &mut Scanner<R>,
        found: &mut bool,
    ) -> Result<(), Broken> {
        if !scanner.value(Some(&mut self.text))? {
            self.tables.count(
                "record_too_long",
                Severity::DataLoss,
                "a single event of more than 16 MiB was skipped",
            );
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        match serde_json::from_slice::<Event<'_>>(&text) {
            Ok(event) => {
                *found = true;
                self.event(&event);
            }
            Err(_) => self.tables.count(
                "malformed_event",
                Severity::DataLoss,
                "an event that is not what a trace holds",
            ),
        }
        self.text = text;
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) {
        let Some(time_ns) = event.time_ns() else {
            if event.phase != "M" {
                self.tables.count(
                    "impossible_time",
                    Severity::DataLoss,
                    "an event without a time, or with one beyond all clocks",
                );
            }
            return;
        };
        if event.name.starts_with("Resource") && self.requests.event(event, time_ns, self.tables) {
            return;
        }
        let is_screenshot = event.name == "Screenshot";
        if is_screenshot
            || event.category.contains("blink.user_timing")
            || PAGE_EVENTS.contains(&event.name.as_ref())
        {
            self.page_event(event, time_ns, is_screenshot);
        } else {
            self.tables.count(
                "event_without_table",
                Severity::Info,
                "an event that no table holds",
            );
        }
    }

    fn page_event(&mut self, event: &Event<'_>, time_ns: i64, is_screenshot: bool) {
        let args: Value = event
            .args
            .and_then(|args| serde_json::from_str(args.get()).ok())
            .unwrap_or_default();
        let data = &args["data"];
        let page = args["frame"]
            .as_str()
            .or(data["frame"].as_str())
            .or(data["frameID"].as_str());
        let value = match event.name.as_ref() {
            "LayoutShift" => data["score"].as_f64(),
            "largestContentfulPaint::Candidate" => data["size"].as_f64(),
            _ => None,
        };
        let image = args["snapshot"]
            .as_str()
            .filter(|_| is_screenshot)
            .and_then(|text| self.image(text));
        let arguments = event.args.map(serde_json::value::RawValue::get);
        let detail = arguments
            .filter(|text| !is_screenshot && text.len() <= MAX_DETAIL_BYTES && *text != "{}");
        self.tables.page_events.push(PageEvent {
            time_ns,
            duration_ns: event.duration_ns(),
            page,
            name: &event.name,
            category: Some(&event.category),
            process: event.process,
            thread: event.thread,
            value,
            detail,
            image: image.as_deref(),
        });
    }

    fn image(&mut self, text: &str) -> Option<Vec<u8>> {
        let Some(image) = base64::decode(text) else {
            self.tables.count(
                "broken_image",
                Severity::DataLoss,
                "a screenshot that is not base64",
            );
            return None;
        };
        if self.image_bytes.saturating_add(image.len()) > MAX_IMAGE_BYTES {
            self.tables.count(
                "image_left_out",
                Severity::DataLoss,
                "screenshots beyond 64 MiB in one trace are left out",
            );
            return None;
        }
        self.image_bytes += image.len();
        Some(image)
    }

    fn finish(mut self) -> Source {
        self.requests.finish(self.tables);
        let Metadata {
            clock_domain,
            product_version,
            os_name,
        } = &self.metadata;
        let named = [product_version, os_name, clock_domain];
        let named: Vec<&str> = named.into_iter().flatten().map(String::as_str).collect();
        let clock = match (clock_domain.as_deref(), os_name.as_deref()) {
            (Some("LINUX_CLOCK_MONOTONIC"), _)
            | (None, Some("Linux" | "Android" | "CrOS" | "ChromeOS")) => Clock::Monotonic,
            (None, None) => {
                self.tables.count(
                    "clock_not_named",
                    Severity::Notice,
                    "the trace does not say on which system it was recorded: its clock is taken for CLOCK_MONOTONIC",
                );
                Clock::Monotonic
            }
            _ => Clock::OwnStart,
        };
        Source {
            dialect: if named.is_empty() {
                "trace events".to_owned()
            } else {
                format!("trace events, {}", named.join(", "))
            },
            clock,
            resolution_ns: 1000,
            realtime_minus_monotonic_ns: None,
        }
    }
}

#[cfg(test)]
mod tests;
