// SPDX-License-Identifier: Apache-2.0
//! One run of the link, from the configuration to the summary.

use std::io::Write;
use std::path::Path;

use link_core::{Direction, StreamKey};
use serde_json::{json, Value};

use crate::clock::{monotonic_ns, realtime_minus_monotonic_ns};
use crate::config::{Backend, Config};
use crate::control::Control;
use crate::device::tun::Tun;
use crate::device::veth::{Veth, WANTED_BUFFER};
use crate::device::Port;
use crate::error::Error;
use crate::forwarder::Forwarder;
use crate::log::Logs;
use crate::summary::{self, Start};
use crate::timer::{self, Spin};

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
    // Closing these takes the kernel tens of milliseconds, so it is left until all else is done.
    let mut ports = open_ports(&config)?;
    let scheduling = timer::ask_for_punctuality();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let spin = Spin::new(config.timer.spin_ns, cores, monotonic_ns());
    let receive_buffer = ports[0]
        .receive_buffer_bytes()
        .min(ports[1].receive_buffer_bytes());
    let facts = json!({
        "version": 1,
        "backend": match config.backend { Backend::Tun => "tun", Backend::Veth => "veth" },
        "offload": ports[0].offloads(),
        "receive_buffer_bytes": receive_buffer,
        "spin_ns": spin.longest_ns(),
        "real_time": scheduling.real_time,
        "memory_locked": scheduling.memory_locked,
        "warnings": warnings(receive_buffer),
    });
    let mtus = [config.ends.client.mtu, config.ends.server.mtu];
    let forwarder = Forwarder::new(&mut ports, models, mtus, logs, start.offset_ns, spin);
    tell(&event("ready", &facts, json!({})));
    let outcome = forwarder.run(&control).map_err(Error::system(
        "lost a device",
        "its namespace must outlive the link",
    ))?;
    let summary = event("summary", &facts, summary::of(&config, &start, outcome));
    if let Some(path) = &config.log.summary {
        std::fs::write(path, format!("{summary}\n")).map_err(Error::system(
            format!("cannot write {}", path.display()),
            "choose a directory with room",
        ))?;
    }
    tell(&summary);
    Ok(())
}

/// What may spoil a run, told before it.
fn warnings(receive_buffer: Option<usize>) -> Vec<String> {
    receive_buffer
        .filter(|&bytes| bytes < WANTED_BUFFER)
        .map(|bytes| {
            format!(
                "the receive buffer has {bytes} bytes, not {WANTED_BUFFER}: bursts may be lost outside the model; raise \
                 net.core.rmem_max on the host, or use the tun backend"
            )
        })
        .into_iter()
        .collect()
}

fn open_ports(config: &Config) -> Result<[Box<dyn Port>; 2], Error> {
    let open = |end| -> Result<Box<dyn Port>, Error> {
        match config.backend {
            Backend::Tun => Ok(Box::new(Tun::open(end)?)),
            Backend::Veth => Ok(Box::new(Veth::open(end)?)),
        }
    };
    Ok([open(&config.ends.client)?, open(&config.ends.server)?])
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
