// SPDX-License-Identifier: Apache-2.0
//! One run of the link, from the configuration to the summary.

use std::io::Write;
use std::path::Path;
use std::thread;

use link_core::{Direction, StreamKey};
use serde_json::{json, Value};

use crate::clock::{monotonic_ns, realtime_minus_monotonic_ns};
use crate::config::{self, Backend, Config};
use crate::control::Control;
use crate::device::{tun, veth, Port};
use crate::error::Error;
use crate::forwarder;
use crate::lane::Lane;
use crate::log::{self, Logs};
use crate::summary::{self, Outcome, Start};
use crate::timer;
use crate::waiting::{ModelZero, Passage, Waiting};

/// Runs the link, or the links in a row, that the file describes until it is told to stop; tells its events on standard
/// output.
///
/// # Errors
/// If the link cannot start, or loses a device.
pub fn run(file: &Path) -> Result<(), Error> {
    let config = Config::read(file)?;
    let control = Control::new().map_err(Error::system(
        "cannot take over the signals",
        "raise the limit on descriptors",
    ))?;
    let links = config.links();
    let seed = config.seed()?;
    let models = links
        .iter()
        .enumerate()
        .map(|(number, link)| models(link, number, seed))
        .collect::<Result<Vec<_>, Error>>()?;
    let zeros: Vec<ModelZero> = links.iter().map(|_| ModelZero::default()).collect();
    let start = Start {
        ns: monotonic_ns(),
        realtime_minus_monotonic_ns: realtime_minus_monotonic_ns(),
    };
    let more: Vec<_> = links[1..].iter().map(|link| link.log.clone()).collect();
    let (logs, writing) = log::create(&config.log, &more, start.realtime_minus_monotonic_ns)?;
    // Closing these takes the kernel tens of milliseconds, so it is left until all else is done.
    let mut ports = open_ports(config.backend, &links)?;
    let memory_locked = timer::ask_for_punctuality(config.timer.real_time);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let spin_ns = timer::spin_ns(config.timer.spin_ns, cores);
    let mut facts = json!({
        "version": 1,
        "backend": match config.backend { Backend::Tun => "tun", Backend::Veth => "veth" },
        "offload": ports[0][0].source.offloads(),
        "spin_ns": spin_ns,
        "real_time": timer::real_time(),
        "memory_locked": memory_locked,
        "warnings": [],
    });
    tell(&event("ready", &facts, json!({})));
    let mut lanes = Vec::new();
    let of_links = links.iter().zip(&mut ports).zip(models).zip(logs);
    for ((((link, [client, server]), models), logs), zero) in of_links.zip(&zeros) {
        let [up, down] = directions(
            link,
            models,
            logs,
            zero,
            &config,
            start.realtime_minus_monotonic_ns,
        );
        lanes.push(Lane::new(&mut *client.source, &mut *server.sink, up));
        lanes.push(Lane::new(&mut *server.source, &mut *client.sink, down));
    }
    let begun = || tell(&event("begun", &json!({}), json!({})));
    let accounts = forwarder::run(lanes, &control, spin_ns, begun).map_err(Error::system(
        "lost a device",
        "its namespace must outlive the link",
    ))?;
    // The link may have been made real-time from outside since its start.
    facts["real_time"] = timer::real_time().into();
    let mut accounts = accounts.into_iter();
    let outcomes = zeros.iter().map_while(|zero| {
        Some(Outcome {
            accounts: [accounts.next()?, accounts.next()?],
            model_zero_ns: zero.get(),
        })
    });
    let summary = summary::of(&config, &start, outcomes.collect(), writing);
    let summary = event("summary", &facts, summary);
    tell(&summary);
    Ok(())
}

/// The models of a link that is `number` links away from the client.
fn models(link: &config::Link, number: usize, seed: u64) -> Result<[Direction; 2], Error> {
    let place = match number {
        0 => String::new(),
        _ => format!("more_links[{}].", number - 1),
    };
    let model = |direction: &config::Direction, name: &str| {
        Ok(Direction::new(
            &direction.elements(&format!("{place}{name}"))?,
            &StreamKey::new(seed, &link.link, name),
        ))
    };
    Ok([model(&link.up, "up")?, model(&link.down, "down")?])
}

/// Up and down, with nothing in them yet.
fn directions<'a>(
    link: &config::Link,
    models: [Direction; 2],
    logs: [Logs; 2],
    zero: &'a ModelZero,
    config: &Config,
    realtime_minus_monotonic_ns: i64,
) -> [Waiting<'a>; 2] {
    let [up_model, down_model] = models;
    let [up_logs, down_logs] = logs;
    let up = Passage {
        direction: 0,
        mtu: link.ends.server.mtu,
        unlimited: link.up.is_unlimited(),
        realtime_minus_monotonic_ns,
    };
    let down = Passage {
        direction: 1,
        mtu: link.ends.client.mtu,
        unlimited: link.down.is_unlimited(),
        realtime_minus_monotonic_ns,
    };
    [
        Waiting::new(up, up_model, zero, up_logs, config.begins_when_told),
        Waiting::new(down, down_model, zero, down_logs, config.begins_when_told),
    ]
}

/// The two ends of each link.
fn open_ports(backend: Backend, links: &[config::Link]) -> Result<Vec<[Port; 2]>, Error> {
    let open = move |end| match backend {
        Backend::Tun => tun::open(end),
        Backend::Veth => veth::open(end),
    };
    thread::scope(|scope| {
        let opening: Vec<_> = links
            .iter()
            .map(|link| {
                [&link.ends.client, &link.ends.server].map(|end| scope.spawn(move || open(end)))
            })
            .collect();
        let crashed = |_| Err(Error::config("opening a device crashed"));
        let mut ports = Vec::new();
        for [client, server] in opening {
            let [client, server] = [client, server].map(|end| end.join().unwrap_or_else(crashed));
            ports.push([client?, server?]);
        }
        Ok(ports)
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

/// Tells an event on standard output, unless that is closed.
pub fn tell(event: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}
