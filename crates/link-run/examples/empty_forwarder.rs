// SPDX-License-Identifier: Apache-2.0
//! `empty_forwarder whole|split CONFIG.json`: the link's devices and its way to wait, and no link between them.
//!
//! What is read is written at once: no model, no log, no calendar. It says the same words on standard output as
//! `quiclab-link`, so that what can start the one can start the other. `whole` (TUN alone) hands super-packets on as
//! they are, `split` cuts them as the link does.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::path::Path;

use link_run::clock::monotonic_ns;
use link_run::config::{Backend, Config, End};
use link_run::control::{Control, Wait, Watched};
use link_run::device::{tun, veth, Port, Sink, Source, FRAME};
use link_run::error::Error;
use link_run::pool::{Pool, HEADROOM};
use link_run::segment::Segments;
use link_run::timer::{ask_for_punctuality, lock_memory, real_time, Naps};
use link_run::train;

/// Turns between two looks for the request to stop, where there is always something to read.
const TURNS: u32 = 1000;

/// One direction: reads once and writes that. False: nothing was there.
type Turn<'a> = Box<dyn FnMut() -> io::Result<bool> + 'a>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [how, config] = &arguments[..] else {
        return Err("give two arguments: whole or split, and CONFIG.json".into());
    };
    let config = Config::read(Path::new(config))?;
    let control = Control::new()?;
    let [mut client, mut server] = [
        open(&config, &config.ends.client)?,
        open(&config, &config.ends.server)?,
    ];
    let fds = [client.source.fds(), server.source.fds()];
    let watched = Watched {
        input: libc::STDIN_FILENO,
        devices: fds.concat(),
    };
    let mut wait = Wait::new(&control, None, &[watched]);
    ask_for_punctuality(true);
    let _ = lock_memory();
    println!(r#"{{"event":"ready","real_time":"{}"}}"#, real_time());
    let turns: [Turn<'_>; 2] = match (how.as_str(), config.backend) {
        ("whole", Backend::Tun) => [whole(fds[0][0], fds[1][0]), whole(fds[1][0], fds[0][0])],
        ("split", _) => [
            split(&mut *client.source, &mut *server.sink),
            split(&mut *server.source, &mut *client.sink),
        ],
        _ => return Err("whole is for TUN, split for TUN and veth".into()),
    };
    run(turns, &mut wait)?;
    println!(r#"{{"event":"summary"}}"#);
    Ok(())
}

fn open(config: &Config, end: &End) -> Result<Port, Error> {
    match config.backend {
        Backend::Tun => tun::open(end),
        Backend::Veth => veth::open(end),
    }
}

/// Turns while there is something to read, and sleeps else.
fn run(mut turns: [Turn<'_>; 2], wait: &mut Wait) -> io::Result<()> {
    let mut naps = Naps::default();
    for number in 0_u32.. {
        let mut busy = false;
        for turn in &mut turns {
            busy |= turn()?;
        }
        naps.nap_if_due(monotonic_ns());
        let stops = if busy {
            number % TURNS == 0 && wait.looks()
        } else {
            let stops = wait.until_ready(None);
            naps.slept();
            stops
        };
        if stops {
            break;
        }
    }
    Ok(())
}

/// A turn that moves packets from one TUN device to the other, whose descriptors outlive this.
fn whole<'a>(from: i32, to: i32) -> Turn<'a> {
    // SAFETY: the ports own the descriptors and live until the end; these are never closed.
    let [mut from, mut to] =
        [from, to].map(|fd| ManuallyDrop::new(unsafe { File::from_raw_fd(fd) }));
    let mut buffer = vec![0; FRAME as usize];
    Box::new(move || match from.read(&mut buffer) {
        Ok(length) => {
            // A far end that is not up yet takes nothing.
            let _ = to.write(&buffer[..length]);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    })
}

/// A turn that moves packets from one device to another, cut to the MTU.
fn split<'a>(source: &'a mut dyn Source, sink: &'a mut dyn Sink) -> Turn<'a> {
    let mut pool = Pool::new(1500);
    let mut slots: Vec<u32> = Vec::with_capacity(train::LONGEST);
    let longest = if sink.takes_trains() {
        train::LONGEST
    } else {
        1
    };
    Box::new(move || {
        let read = source.receive(&mut |received| {
            let segments = received
                .offload
                .and_then(|offload| Segments::new(received.packet, offload));
            let Some(segments) = segments else { return };
            for number in 0..segments.count() {
                let slot = pool.take();
                let entry = pool.get_mut(slot);
                entry.bytes.truncate(HEADROOM);
                entry.bytes.resize(HEADROOM, 0);
                segments.write(number, &mut entry.bytes);
                entry.checksum = segments.checksum();
                entry.headers = segments.headers();
                slots.push(slot);
            }
        })?;
        for train in slots.chunks(longest) {
            // A far end that is not up yet takes nothing.
            let _ = sink.send(&mut pool, train);
        }
        slots.drain(..).for_each(|slot| pool.give_back(slot));
        Ok(read)
    })
}
