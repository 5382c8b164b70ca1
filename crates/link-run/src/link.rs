// SPDX-License-Identifier: Apache-2.0
//! One run of the link, from the configuration to the summary.

use std::io::Write;
use std::path::Path;
use std::thread;

use link_core::{Direction, StreamKey};
use serde_json::{json, Value};

use crate::clock::{monotonic_ns, realtime_minus_monotonic_ns};
use crate::config::{Backend, Config};
use crate::control::Control;
use crate::device::{tun, veth, Port};
use crate::error::Error;
use crate::forwarder;
use crate::lane::Lane;
use crate::log::{self, Logs};
use crate::summary::{self, Outcome, Start};
use crate::timer::{self, Spin};
use crate::waiting::{ModelZero, Passage, Waiting};

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
    let zero = ModelZero::default();
    let start = Start {
        ns: monotonic_ns(),
        offset_ns: realtime_minus_monotonic_ns(),
    };
    let (logs, writing) = log::create(&config.log, start.offset_ns)?;
    // Closing these takes the kernel tens of milliseconds, so it is left until all else is done.
    let mut ports = open_ports(&config)?;
    let scheduling = timer::ask_for_punctuality();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let spin = Spin::new(config.timer.spin_ns, cores, monotonic_ns());
    let facts = json!({
        "version": 1,
        "backend": match config.backend { Backend::Tun => "tun", Backend::Veth => "veth" },
        "offload": ports[0].source.offloads(),
        "spin_ns": spin.longest_ns(),
        "real_time": scheduling.real_time,
        "memory_locked": scheduling.memory_locked,
        "warnings": [],
    });
    tell(&event("ready", &facts, json!({})));
    let [client, server] = &mut ports;
    let [up, down] = directions(&config, models, logs, &zero, start.offset_ns);
    let lanes = [
        Lane::new(&mut *client.source, &mut *server.sink, up),
        Lane::new(&mut *server.source, &mut *client.sink, down),
    ];
    let accounts = forwarder::run(lanes, &control, spin).map_err(Error::system(
        "lost a device",
        "its namespace must outlive the link",
    ))?;
    let outcome = Outcome {
        accounts,
        writing,
        model_zero_ns: zero.get(),
    };
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

/// Up and down, with nothing in them yet.
fn directions<'a>(
    config: &Config,
    models: [Direction; 2],
    logs: [Logs; 2],
    zero: &'a ModelZero,
    clock_offset_ns: i64,
) -> [Waiting<'a>; 2] {
    let [up_model, down_model] = models;
    let [up_logs, down_logs] = logs;
    let (client, server) = (&config.ends.client, &config.ends.server);
    let up = Passage {
        direction: 0,
        mtu: server.mtu,
        unlimited: config.up.is_unlimited(),
        clock_offset_ns,
    };
    let down = Passage {
        direction: 1,
        mtu: client.mtu,
        unlimited: config.down.is_unlimited(),
        clock_offset_ns,
    };
    [
        Waiting::new(up, up_model, zero, up_logs),
        Waiting::new(down, down_model, zero, down_logs),
    ]
}

fn open_ports(config: &Config) -> Result<[Port; 2], Error> {
    let open = |end| match config.backend {
        Backend::Tun => tun::open(end),
        Backend::Veth => veth::open(end),
    };
    thread::scope(|scope| {
        let client = scope.spawn(|| open(&config.ends.client));
        let server = open(&config.ends.server)?;
        let crashed = |_| Err(Error::config("opening a device crashed"));
        Ok([client.join().unwrap_or_else(crashed)?, server])
    })
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
