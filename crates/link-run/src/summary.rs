// SPDX-License-Identifier: Apache-2.0
//! The account of a run, and whether it counts.

use serde_json::{json, Map, Value};

use crate::clock::{monotonic_ns, process_cpu_ns, realtime_minus_monotonic_ns};
use crate::config::{Config, Link};
use crate::device::Lost;
use crate::histogram::Histogram;
use crate::lane::Account;
use crate::log::{Counts, Writing};

/// Share of the time, in each direction, in which packets may be late beyond the bound.
const MOST_LATE_TIME: f64 = 0.01;

/// The instant at which a run started, and what `CLOCK_REALTIME` was ahead of `CLOCK_MONOTONIC` at that moment.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The reading of `CLOCK_MONOTONIC`.
    pub ns: u64,
    /// Processor time that the process had used.
    pub cpu_ns: u64,
    /// The difference `CLOCK_REALTIME` − `CLOCK_MONOTONIC`.
    pub realtime_minus_monotonic_ns: i64,
}

/// Outcome of a link.
pub struct Outcome {
    /// Up and down.
    pub accounts: [Account; 2],
    /// `CLOCK_MONOTONIC` at the model's t = 0; `None` if no packet came.
    pub model_zero_ns: Option<u64>,
}

/// Closes the logs and gives the account: the first link's numbers as those of the run, further links' in `more_links`.
#[must_use]
pub fn of(config: &Config, start: &Start, outcomes: Vec<Outcome>, writing: Writing) -> Value {
    let stopped_ns = monotonic_ns();
    let zeros = outcomes.iter().map(|outcome| outcome.model_zero_ns);
    let zeros: Vec<u64> = zeros.map(Option::unwrap_or_default).collect();
    let written = writing.finish(&zeros);
    let links = config.links();
    let mut parts = Vec::new();
    let mut reasons = Vec::new();
    for (link, outcome) in links.iter().zip(outcomes) {
        let (part, of_link) = account(link, outcome, written.is_ok(), stopped_ns);
        parts.push(part);
        reasons.extend(of_link.into_iter().map(|reason| match links.len() {
            1 => reason,
            _ => format!("link {}: {reason}", link.link),
        }));
    }
    reasons.extend(
        written
            .err()
            .map(|error| format!("log incomplete: {error}")),
    );
    let run = json!({
        "duration_ns": stopped_ns - start.ns,
        "clock": {
            "realtime_minus_monotonic_start_ns": start.realtime_minus_monotonic_ns,
            "realtime_minus_monotonic_end_ns": realtime_minus_monotonic_ns(),
        },
        "cpu_ns": process_cpu_ns() - start.cpu_ns,
        "sound": reasons.is_empty(),
        "unsound_reasons": reasons,
    });
    let mut parts = parts.into_iter();
    let mut summary = parts.next().unwrap_or_default();
    summary.extend(run.as_object().cloned().unwrap_or_default());
    if parts.len() > 0 {
        summary.insert("more_links".to_owned(), parts.map(Value::Object).collect());
    }
    Value::Object(summary)
}

/// One link's numbers, and why it is unsound.
fn account(
    link: &Link,
    outcome: Outcome,
    written: bool,
    stopped_ns: u64,
) -> (Map<String, Value>, Vec<String>) {
    let [up, down] = outcome.accounts;
    let mut lateness = up.lateness;
    lateness.add_all(&down.lateness);
    let counts = up.logged + down.logged;
    let outside = OutsideDrops {
        read_errors: up.errors.read + down.errors.read,
        write_errors: up.errors.write + down.errors.write,
        lost: up.lost + down.lost,
    };
    let log_fault = log_fault(&counts);
    let complete = written && log_fault.is_none();
    let zero_ns = outcome.model_zero_ns.unwrap_or(stopped_ns);
    let lasted_ns = stopped_ns.saturating_sub(zero_ns).max(1);
    let late_shares = [("up", up.late_time), ("down", down.late_time)]
        .map(|(way, late)| (way, share(late.sum_ns(), lasted_ns)));
    let reasons = [
        lateness_fault(&lateness, link),
        late_time_fault(&late_shares, link),
        loss_fault(&outside),
        log_fault,
    ];
    let part = json!({
        "link": link.link,
        "model_zero_ns": outcome.model_zero_ns.unwrap_or(0),
        "up": up.counters.summary(),
        "down": down.counters.summary(),
        "lateness": {
            "count": lateness.count(),
            "p50_ns": lateness.quantile(500),
            "p90_ns": lateness.quantile(900),
            "p99_ns": lateness.quantile(990),
            "p999_ns": lateness.quantile(999),
            "max_ns": lateness.max(),
            "up_time_share": late_shares[0].1,
            "down_time_share": late_shares[1].1,
        },
        "outside_drops": {
            "read_errors": outside.read_errors,
            "write_errors": outside.write_errors,
            "device_drops": outside.lost.device,
            "unread": outside.lost.unread,
        },
        "log": {
            "records": counts.records,
            "records_lost": counts.records_lost,
            "capture_packets_lost": counts.capture_packets_lost,
            "complete": complete,
        },
    });
    let part = part.as_object().cloned().unwrap_or_default();
    (part, reasons.into_iter().flatten().collect())
}

/// Drops outside the model.
struct OutsideDrops {
    read_errors: u64,
    write_errors: u64,
    lost: Lost,
}

fn lateness_fault(lateness: &Histogram, link: &Link) -> Option<String> {
    let (p99_ns, bound_ns) = (lateness.quantile(990), lateness_bound_ns(link));
    (p99_ns > bound_ns).then(|| {
        format!(
            "1 % of its packets left at least {} late (bound {}): this machine is too busy",
            in_words(p99_ns),
            in_words(bound_ns)
        )
    })
}

/// One direction may be late throughout where it has few packets, and a stop may meet few of them: a share of the time
/// tells both.
fn late_time_fault(shares: &[(&str, f64); 2], link: &Link) -> Option<String> {
    let (way, share) = shares.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (*share > MOST_LATE_TIME).then(|| {
        format!(
            "for {:.1} % of the time what it sent {way} was late by more than {}: this machine is too busy",
            share * 100.0,
            in_words(lateness_bound_ns(link))
        )
    })
}

#[expect(clippy::cast_precision_loss, reason = "a share, of times below 2⁵³ ns")]
fn share(part_ns: u64, whole_ns: u64) -> f64 {
    part_ns as f64 / whole_ns as f64
}

/// A short time for people, to a hundredth of its unit.
fn in_words(ns: u64) -> String {
    let (unit_ns, unit) = if ns < 1_000_000 {
        (1_000, "us")
    } else {
        (1_000_000, "ms")
    };
    let hundredths = ns * 100 / unit_ns;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!(
        "{} {unit}",
        text.trim_end_matches('0').trim_end_matches('.')
    )
}

/// The larger of a fixed bound and a share of the smaller one-way delay.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bound, not a measurement"
)]
#[must_use]
pub fn lateness_bound_ns(link: &Link) -> u64 {
    let delay = link.up.delay().min(link.down.delay());
    link.void
        .lateness_p99_ns
        .max((delay.0 as f64 * link.void.one_way_delay_share) as u64)
}

fn loss_fault(outside: &OutsideDrops) -> Option<String> {
    let places = [
        (outside.read_errors, "not understood"),
        (outside.write_errors, "refused by a device"),
        (outside.lost.device, "dropped by a device"),
        (outside.lost.unread, "not read in time"),
    ];
    let told: Vec<String> = places
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, place)| format!("{count} {place}"))
        .collect();
    (!told.is_empty()).then(|| format!("packets lost outside the model: {}", told.join(", ")))
}

fn log_fault(counts: &Counts) -> Option<String> {
    (counts.records_lost + counts.capture_packets_lost > 0).then(|| {
        format!(
            "log incomplete: {} records and {} captured packets found the buffer full",
            counts.records_lost, counts.capture_packets_lost
        )
    })
}
