// SPDX-License-Identifier: Apache-2.0
//! The account of a run, and whether it counts.

use std::io;

use serde_json::{json, Value};

use crate::clock::{monotonic_ns, process_cpu_ns, realtime_minus_monotonic_ns};
use crate::config::Config;
use crate::device::Lost;
use crate::histogram::Histogram;
use crate::lane::Account;
use crate::log::{Counts, Writing};

/// When a run started, and what `CLOCK_REALTIME` was ahead of `CLOCK_MONOTONIC` at that moment.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// `CLOCK_MONOTONIC`.
    pub ns: u64,
    /// `CLOCK_REALTIME` − `CLOCK_MONOTONIC`.
    pub offset_ns: i64,
}

/// What a run leaves behind.
pub struct Outcome {
    /// Up and down.
    pub accounts: [Account; 2],
    /// Closes the logs.
    pub writing: Writing,
    /// `CLOCK_MONOTONIC` at the model's t = 0; `None` if no packet came.
    pub model_zero_ns: Option<u64>,
}

/// Closes the logs and gives the account.
#[must_use]
pub fn of(config: &Config, start: &Start, outcome: Outcome) -> Value {
    let Outcome {
        accounts: [up, down],
        writing,
        model_zero_ns,
    } = outcome;
    let stopped_ns = monotonic_ns();
    let written = writing.finish(model_zero_ns.unwrap_or(0));
    let mut lateness = up.lateness;
    lateness.add_all(&down.lateness);
    let counts = up.logged + down.logged;
    let outside = OutsideDrops {
        read_errors: up.errors.read + down.errors.read,
        write_errors: up.errors.write + down.errors.write,
        lost: up.lost + down.lost,
    };
    let counters = [up.counters, down.counters];
    let log_fault = log_fault(&counts, written);
    let complete = log_fault.is_none();
    let reasons: Vec<String> = [
        lateness_fault(&lateness, config),
        loss_fault(&outside),
        log_fault,
    ]
    .into_iter()
    .flatten()
    .collect();
    json!({
        "model_zero_ns": model_zero_ns.unwrap_or(0),
        "duration_ns": stopped_ns - start.ns,
        "clock": {
            "realtime_minus_monotonic_start_ns": start.offset_ns,
            "realtime_minus_monotonic_end_ns": realtime_minus_monotonic_ns(),
        },
        "up": counters[0].summary(),
        "down": counters[1].summary(),
        "lateness": {
            "count": lateness.count(),
            "p50_ns": lateness.quantile(500),
            "p90_ns": lateness.quantile(900),
            "p99_ns": lateness.quantile(990),
            "p999_ns": lateness.quantile(999),
            "max_ns": lateness.max(),
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
        "cpu_ns": process_cpu_ns(),
        "sound": reasons.is_empty(),
        "unsound_reasons": reasons,
    })
}

/// What went wrong outside the model.
struct OutsideDrops {
    read_errors: u64,
    write_errors: u64,
    lost: Lost,
}

fn lateness_fault(lateness: &Histogram, config: &Config) -> Option<String> {
    let (p99_ns, bound_ns) = (lateness.quantile(990), lateness_bound_ns(config));
    (p99_ns > bound_ns).then(|| format!("late: p99 {} us > {} us", p99_ns / 1000, bound_ns / 1000))
}

/// The larger of a fixed bound and a share of the smaller one-way delay.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bound, not a measurement"
)]
fn lateness_bound_ns(config: &Config) -> u64 {
    let delay = config.up.delay().min(config.down.delay());
    config
        .void
        .lateness_p99_ns
        .max((delay.0 as f64 * config.void.one_way_delay_share) as u64)
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

fn log_fault(counts: &Counts, written: io::Result<()>) -> Option<String> {
    match written {
        Err(error) => Some(format!("log incomplete: {error}")),
        Ok(()) if counts.records_lost + counts.capture_packets_lost == 0 => None,
        Ok(()) => Some(format!(
            "log incomplete: {} records and {} captured packets found the buffer full",
            counts.records_lost, counts.capture_packets_lost
        )),
    }
}
