// SPDX-License-Identifier: Apache-2.0
//! One run of the link, from the configuration to the summary.

use std::io::Write;
use std::path::Path;

use link_core::{Direction, StreamKey};
use serde_json::{json, Value};

use crate::clock::{monotonic_ns, process_cpu_ns, realtime_minus_monotonic_ns};
use crate::config::{Backend, Config};
use crate::control::Control;
use crate::device::tun::Tun;
use crate::device::Port;
use crate::error::Error;
use crate::forwarder::{Forwarder, Outcome};
use crate::log::Logs;
use crate::timer;

/// Runs the link that the file describes until it is told to stop; tells its events on standard output.
///
/// # Errors
/// If the link cannot start, or loses a device.
pub fn run(config: &Path) -> Result<(), Error> {
    let config = Config::read(config)?;
    let control = Control::new().map_err(Error::system(
        "cannot take signals over",
        "raise the limit on descriptors",
    ))?;
    let seed = config.seed()?;
    let model = |direction: &crate::config::Direction, name| {
        Ok(Direction::new(
            &direction.elements(name)?,
            &StreamKey::new(seed, &config.link, name),
        ))
    };
    let models = [model(&config.up, "up")?, model(&config.down, "down")?];
    let start = Start {
        ns: monotonic_ns(),
        offset_ns: realtime_minus_monotonic_ns(),
    };
    let logs = Logs::create(&config.log, start.offset_ns)?;
    let ports = open_ports(&config)?;
    let drops_before = device_drops(&ports)?;
    let scheduling = timer::ask_for_punctuality();
    let spin_ns = config
        .timer
        .spin_ns
        .unwrap_or_else(timer::calibrate_spin_ns);
    let facts = json!({
        "version": 1,
        "backend": match config.backend { Backend::Tun => "tun", Backend::Veth => "veth" },
        "offload": ports[0].offloads(),
        "receive_buffer_bytes": ports[0].receive_buffer_bytes().min(ports[1].receive_buffer_bytes()),
        "spin_ns": spin_ns,
        "real_time": scheduling.real_time,
        "memory_locked": scheduling.memory_locked,
    });
    let mtus = [config.ends.client.mtu, config.ends.server.mtu];
    let forwarder = Forwarder::new(ports, models, mtus, logs, start.offset_ns, spin_ns);
    tell(&event("ready", &facts, json!({})));
    let outcome = forwarder.run(&control).map_err(Error::system(
        "lost a device",
        "its namespace must outlive the link",
    ))?;
    let summary = summarise(&config, &start, &facts, drops_before, outcome)?;
    if let Some(path) = &config.log.summary {
        std::fs::write(path, format!("{summary}\n")).map_err(Error::system(
            format!("cannot write {}", path.display()),
            "choose a directory with room",
        ))?;
    }
    tell(&summary);
    Ok(())
}

/// When the run started, and the distance of CLOCK_REALTIME at that moment.
struct Start {
    ns: u64,
    offset_ns: i64,
}

fn open_ports(config: &Config) -> Result<[Box<dyn Port>; 2], Error> {
    let open = |end| -> Result<Box<dyn Port>, Error> {
        match config.backend {
            Backend::Tun => Ok(Box::new(Tun::open(end)?)),
            Backend::Veth => Err(Error::config("backend: veth is not there yet")),
        }
    };
    Ok([open(&config.ends.client)?, open(&config.ends.server)?])
}

fn device_drops(ports: &[Box<dyn Port>; 2]) -> Result<u64, Error> {
    let read = |port: &dyn Port| {
        port.drops().map_err(Error::system(
            "cannot read the device's counters",
            "its namespace must outlive the link",
        ))
    };
    Ok(read(&*ports[0])? + read(&*ports[1])?)
}

/// Closes the logs and gives the account of the run.
fn summarise(
    config: &Config,
    start: &Start,
    facts: &Value,
    drops_before: u64,
    outcome: Outcome,
) -> Result<Value, Error> {
    let Outcome {
        ports,
        counters,
        lateness,
        outside,
        logs,
        model_zero_ns,
    } = outcome;
    let stopped_ns = monotonic_ns();
    let device_drops = device_drops(&ports)?.saturating_sub(drops_before);
    let counts = logs.counts;
    let written = logs.finish(model_zero_ns.unwrap_or(0));
    let complete = written.is_ok() && counts.records_lost == 0 && counts.capture_packets_lost == 0;
    let mut reasons = Vec::new();
    let bound_ns = lateness_bound_ns(config);
    let p99_ns = lateness.quantile(990);
    if p99_ns > bound_ns {
        reasons.push(format!(
            "late: p99 {} us > {} us",
            p99_ns / 1000,
            bound_ns / 1000
        ));
    }
    let lost = outside.read_errors + outside.write_errors + device_drops;
    if lost > 0 {
        reasons.push(format!("{lost} packets lost outside the model"));
    }
    match written {
        Err(error) => reasons.push(format!("log incomplete: {error}")),
        Ok(_) if !complete => reasons.push(format!(
            "log incomplete: {} records and {} captured packets found the buffer full",
            counts.records_lost, counts.capture_packets_lost
        )),
        Ok(_) => {}
    }
    Ok(event(
        "summary",
        facts,
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
                "p99_ns": p99_ns,
                "p999_ns": lateness.quantile(999),
                "max_ns": lateness.max(),
            },
            "outside_drops": {
                "read_errors": outside.read_errors,
                "write_errors": outside.write_errors,
                "device_drops": device_drops,
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
        }),
    ))
}

/// What p99 of the lateness must not exceed: the larger of a fixed bound and a share of the smaller one-way delay.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bound, not a measurement"
)]
fn lateness_bound_ns(config: &Config) -> u64 {
    let delay = config.up.delay().min(config.down.delay());
    let share = (delay.0 as f64 * config.void.one_way_delay_share) as u64;
    config.void.lateness_p99_ns.max(share)
}

/// One line: the event's name, the facts of the run, and more.
fn event(name: &str, facts: &Value, more: Value) -> Value {
    let mut fields = serde_json::Map::new();
    fields.insert("event".to_owned(), name.into());
    for part in [facts.clone(), more] {
        if let Value::Object(part) = part {
            fields.extend(part);
        }
    }
    Value::Object(fields)
}

/// Tells an event; whoever has closed our standard output does not want to know it.
pub fn tell(event: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}
