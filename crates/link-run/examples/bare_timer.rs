// SPDX-License-Identifier: Apache-2.0
//! `bare_timer LEAST_NS MOST_NS SECONDS [SPIN_NS | FD BYTES]`: how late this machine lets a thread be that has nothing to
//! do but to be on time.
//!
//! Instants follow one another by the distances given, and the thread waits for each as the link does, with its
//! scheduling, naps and spins (always so long, if that is given), and does nothing then; or it sends a datagram of so
//! many bytes, which begins with its number, to where the socket is connected. It starts at the first line on standard
//! input, so that it can be made real-time before.

use std::error::Error;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{FromRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use link_run::clock::monotonic_ns;
use link_run::histogram::Histogram;
use link_run::timer::{ask_for_punctuality, lock_memory, spin_ns, Naps};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<u64> = std::env::args()
        .skip(1)
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let [least_ns, most_ns, seconds, more @ ..] = &arguments[..] else {
        return Err("give LEAST_NS MOST_NS SECONDS, and SPIN_NS or FD BYTES if at all".into());
    };
    let mut datagrams = match more {
        [fd, bytes] => Some(Datagrams::new((*fd).try_into()?, (*bytes).try_into()?)),
        _ => None,
    };
    ask_for_punctuality(true);
    let _ = lock_memory();
    println!("ready");
    io::stdin().read_line(&mut String::new())?;
    let fixed_ns = more.first().copied().filter(|_| datagrams.is_none());
    let lateness = wait_for_instants(
        *least_ns..=*most_ns,
        seconds * 1_000_000_000,
        fixed_ns,
        |number| datagrams.as_mut().map_or(Ok(()), |all| all.send(number)),
    )?;
    let [p50_ns, p99_ns] = [500, 990].map(|per_mille| lateness.quantile(per_mille));
    let (count, max_ns) = (lateness.count(), lateness.max());
    println!(r#"{{"count":{count},"p50_ns":{p50_ns},"p99_ns":{p99_ns},"max_ns":{max_ns}}}"#);
    Ok(())
}

/// Datagrams to one receiver.
struct Datagrams {
    socket: UdpSocket,
    bytes: Vec<u8>,
}

impl Datagrams {
    /// Datagrams of so many bytes, from a connected socket that this program was started with.
    fn new(fd: i32, length: usize) -> Self {
        // SAFETY: the descriptor was handed over for this alone.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        Self {
            socket: socket.into(),
            bytes: vec![0; length.max(size_of::<u64>())],
        }
    }

    fn send(&mut self, number: u64) -> io::Result<()> {
        self.bytes[..size_of::<u64>()].copy_from_slice(&number.to_be_bytes());
        self.socket.send(&self.bytes).map(|_| ())
    }
}

fn wait_for_instants(
    distances_ns: std::ops::RangeInclusive<u64>,
    run_ns: u64,
    fixed_ns: Option<u64>,
    mut act: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<Histogram> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (mut now_ns, mut lateness) = (monotonic_ns(), Histogram::default());
    let (spin_ns, mut naps) = (spin_ns(fixed_ns, cores), Naps::default());
    let (end_ns, mut due_ns, mut number) = (now_ns + run_ns, now_ns, 0_u64);
    let width_ns = distances_ns.end() - distances_ns.start() + 1;
    while due_ns < end_ns {
        // Spread evenly enough over the range by a step that shares no factor with most widths.
        due_ns += distances_ns.start() + number * 6_180_339_887 % width_ns;
        number += 1;
        loop {
            now_ns = monotonic_ns();
            naps.nap_if_due(now_ns);
            if now_ns >= due_ns {
                break;
            }
            let left_ns = due_ns - now_ns;
            let sleep_ns = naps
                .in_time_ns(left_ns)
                .max(left_ns.saturating_sub(spin_ns));
            if sleep_ns > 0 {
                thread::sleep(Duration::from_nanos(sleep_ns));
                naps.slept();
            }
        }
        lateness.add(now_ns - due_ns);
        act(number - 1)?;
    }
    Ok(lateness)
}
