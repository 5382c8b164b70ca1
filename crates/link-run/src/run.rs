// SPDX-License-Identifier: Apache-2.0
//! One run of the link, or of the links in a row, of one configuration: opened, moved by the forwarder, accounted for.

mod told;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread;

use link_core::{Direction, StreamKey};
use serde_json::{json, Value};

use crate::bursts::Bursts;
use crate::clock::{monotonic_ns, process_cpu_ns, realtime_minus_monotonic_ns};
use crate::config::{self, Backend, Config};
use crate::control::Watched;
use crate::device::{tun, veth, Port};
use crate::error::Error;
use crate::lane::{Devices, Lane};
use crate::log::{self, Logs, Writing};
use crate::model_zero::ModelZero;
use crate::nat::Nat;
use crate::stalls::Stalls;
use crate::summary::{self, Outcome, Start};
use crate::timer;
use crate::waiting::{Passage, SharedNat, Waiting};

/// Files over which a run is told to begin and to stop, and over which it tells its events.
#[derive(Debug)]
pub struct Talk {
    input: OwnedFd,
    output: File,
}

impl Talk {
    /// Reads requests from `input`, and writes lines of JSON to `output`.
    #[must_use]
    pub fn new(input: OwnedFd, output: OwnedFd) -> Self {
        Self {
            input,
            output: output.into(),
        }
    }

    /// Tells an event, unless nothing listens.
    pub fn tell(&mut self, event: &Value) {
        let _ = self.output.write_all(format!("{event}\n").as_bytes());
    }
}

/// Settings of punctuality, which do not change from run to run of a process.
#[derive(Clone, Copy, Debug)]
pub struct Punctuality {
    /// Time before a due time at which it stops sleeping.
    pub spin_ns: u64,
    /// True if its memory stays where it is.
    pub memory_locked: bool,
    /// True if it may move the packets of several runs.
    pub shared: bool,
}

impl Punctuality {
    /// Asks for what makes this process punctual; `spin_ns` and `real_time` as in the configuration.
    #[must_use]
    pub fn ask_for(spin_ns: Option<u64>, real_time: bool, shared: bool) -> Self {
        timer::ask_for_punctuality(real_time);
        // Runs that come later need more memory.
        let memory_locked = !shared && timer::lock_memory();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            spin_ns: timer::spin_ns(spin_ns, cores),
            memory_locked,
            shared,
        }
    }
}

/// One run, from the first packet that its devices may have to its summary.
pub struct Run {
    config: Config,
    start: Start,
    zeros: Vec<Arc<ModelZero>>,
    lanes: Vec<Lane>,
    writing: Writing,
    facts: Value,
    talk: Talk,
    runs_at_once: usize,
    gave_way_ns: Option<u64>,
    /// Words that it was told and has not understood yet: a line without its end.
    heard: Vec<u8>,
    /// Changes, as they were told, with their instants.
    changes: Vec<Value>,
}

impl Run {
    /// Opens devices and logs, which takes milliseconds.
    ///
    /// # Errors
    /// If the configuration asks for what is not there, with what tells so.
    pub fn open(config: Config, talk: Talk) -> Result<Self, (Error, Talk)> {
        match Self::parts(&config) {
            Ok((start, zeros, lanes, writing, facts)) => Ok(Self {
                config,
                start,
                zeros,
                lanes,
                writing,
                facts,
                talk,
                runs_at_once: 1,
                gave_way_ns: None,
                heard: Vec::new(),
                changes: Vec::new(),
            }),
            Err(error) => Err((error, talk)),
        }
    }

    #[expect(
        clippy::type_complexity,
        reason = "the parts of a run, which are named where they end up"
    )]
    fn parts(
        config: &Config,
    ) -> Result<(Start, Vec<Arc<ModelZero>>, Vec<Lane>, Writing, Value), Error> {
        let links = config.links();
        let seed = config.seed()?;
        let models = links
            .iter()
            .enumerate()
            .map(|(number, link)| models(link, number, seed))
            .collect::<Result<Vec<_>, Error>>()?;
        let zeros: Vec<Arc<ModelZero>> = links.iter().map(|_| Arc::default()).collect();
        let start = Start {
            ns: monotonic_ns(),
            cpu_ns: process_cpu_ns(),
            realtime_minus_monotonic_ns: realtime_minus_monotonic_ns(),
        };
        let more: Vec<_> = links[1..].iter().map(|link| link.log.clone()).collect();
        let (logs, writing) = log::create(&config.log, &more, start.realtime_minus_monotonic_ns)?;
        let ports = open_ports(config.backend, &links)?;
        let facts = json!({
            "version": 1,
            "backend": match config.backend { Backend::Tun => "tun", Backend::Veth => "veth" },
            "offload": ports[0][0].source.offloads(),
            "warnings": [],
        });
        let mut lanes = Vec::new();
        let up_bursts = Bursts::in_a_row(links.len());
        let down_bursts = Bursts::in_a_row(links.len()).into_iter().rev();
        let bursts = up_bursts.into_iter().zip(down_bursts);
        let of_links = links.iter().zip(ports).zip(models).zip(logs).zip(bursts);
        for (((((link, [client, server]), models), logs), bursts), zero) in of_links.zip(&zeros) {
            let late_from_ns = summary::lateness_bound_ns(link);
            let [up, down] = directions(
                link,
                models,
                logs,
                bursts.into(),
                zero,
                config,
                start.realtime_minus_monotonic_ns,
            );
            let mut lane = |source, sink, waiting| {
                lanes.push(Lane::new(Devices { source, sink }, waiting, late_from_ns));
            };
            lane(client.source, server.sink, up);
            lane(server.source, client.sink, down);
        }
        Ok((start, zeros, lanes, writing, facts))
    }

    /// Tells that packets are moved from now on.
    pub fn is_ready(&mut self, punctuality: Punctuality) {
        self.facts["spin_ns"] = punctuality.spin_ns.into();
        self.facts["memory_locked"] = punctuality.memory_locked.into();
        self.facts["real_time"] = timer::real_time().into();
        self.facts["slice_ns"] = timer::slice_ns().into();
        self.facts["shared"] = punctuality.shared.into();
        self.talk.tell(&event("ready", &self.facts, json!({})));
    }

    /// Notes how many runs are moved at once now.
    pub fn beside(&mut self, runs: usize) {
        self.runs_at_once = self.runs_at_once.max(runs);
    }

    /// Notes that the thread gave up its precedence.
    pub fn gave_way(&mut self, now_ns: u64) {
        self.gave_way_ns = Some(now_ns.saturating_sub(self.start.ns));
    }

    /// Set of files to wait for.
    #[must_use]
    pub fn watched(&self) -> Watched {
        Watched {
            input: self.talk.input.as_raw_fd(),
            devices: self.lanes.iter().flat_map(Lane::fds).collect(),
        }
    }

    /// Reads and writes what is there and what is due. False: nothing was.
    ///
    /// # Errors
    /// If a device is lost.
    pub fn turn(&mut self, stalls: &mut Stalls) -> io::Result<bool> {
        let mut busy = false;
        for number in 0..self.lanes.len() {
            busy |= self.lanes[number].turn(stalls)?;
            for message in self.lanes[number].take_messages() {
                self.lanes[number ^ 1].deliver(&message); // up and down of a link are neighbours
            }
        }
        Ok(busy)
    }

    /// The instant at which something is to be done even if no packet comes.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.lanes.iter().filter_map(Lane::next_ns).min()
    }

    /// Hands logs to their writer, if it is time to; else says when it will be. To be called every now and then.
    pub fn hand_logs_over(&mut self, now_ns: u64) -> Option<u64> {
        let lanes = self.lanes.iter_mut();
        lanes.filter_map(|lane| lane.hand_logs_over(now_ns)).min()
    }

    /// Ends with a summary, unless `moved` says why there is none; then closes the devices.
    ///
    /// # Errors
    /// If a device was lost, with what tells so.
    pub fn end(self, moved: io::Result<()>) -> Result<(), (Error, Talk)> {
        let Self {
            config,
            start,
            zeros,
            lanes,
            writing,
            mut facts,
            mut talk,
            runs_at_once,
            gave_way_ns,
            heard: _,
            changes,
        } = self;
        let finished = moved.and_then(|()| lanes.into_iter().map(Lane::finish).collect());
        let lost = Error::system("lost a device", "its namespace must outlive the link");
        let (accounts, devices): (Vec<_>, Vec<_>) = match finished.map_err(lost) {
            Ok(finished) => Vec::into_iter(finished).unzip(),
            Err(error) => return Err((error, talk)),
        };
        // The process may have been made real-time from outside since its start.
        facts["real_time"] = timer::real_time().into();
        facts["slice_ns"] = timer::slice_ns().into();
        facts["runs_at_once"] = runs_at_once.into();
        facts["gave_way_ns"] = gave_way_ns.into();
        let mut accounts = accounts.into_iter();
        let outcomes = zeros.iter().map_while(|zero| {
            Some(Outcome {
                accounts: [accounts.next()?, accounts.next()?],
                model_zero_ns: zero.get(),
            })
        });
        let mut summary = summary::of(&config, &start, outcomes.collect(), writing);
        if !changes.is_empty() {
            summary["changes"] = changes.into();
        }
        talk.tell(&event("summary", &facts, summary));
        drop(talk);
        // This takes the kernel tens of milliseconds, so all else is done.
        drop(devices);
        Ok(())
    }
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
fn directions(
    link: &config::Link,
    models: [Direction; 2],
    logs: [Logs; 2],
    bursts: [Bursts; 2],
    zero: &Arc<ModelZero>,
    config: &Config,
    realtime_minus_monotonic_ns: i64,
) -> [Waiting; 2] {
    let [up_model, down_model] = models;
    let [up_logs, down_logs] = logs;
    let [up_bursts, down_bursts] = bursts;
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
    let when_told = config.begins_when_told;
    let nat = link
        .nat
        .map(|nat| SharedNat::new(Mutex::new(Nat::new(nat.forgets()))));
    [
        Waiting::new(
            up,
            up_model,
            Arc::clone(zero),
            up_logs,
            up_bursts,
            when_told,
        )
        .translated_by(nat.clone()),
        Waiting::new(
            down,
            down_model,
            Arc::clone(zero),
            down_logs,
            down_bursts,
            when_told,
        )
        .translated_by(nat),
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
