// SPDX-License-Identifier: Apache-2.0
//! `bare_timer LEAST_NS MOST_NS SECONDS [SPIN_NS]`: how late this machine lets a thread be that has nothing to do but
//! to be on time.
//!
//! Instants follow one another by the distances given, and the thread waits for each as the link does, with its
//! scheduling, naps and spins (always so long, if that is given), and does nothing then. It starts at the first line on
//! standard input, so that it can be made real-time before.

use std::error::Error;
use std::io;
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
    let (&[least_ns, most_ns, seconds], fixed_ns) = (match &arguments[..] {
        [limits @ .., spin_ns] if limits.len() == 3 => (limits, Some(*spin_ns)),
        limits => (limits, None),
    }) else {
        return Err("give LEAST_NS MOST_NS SECONDS [SPIN_NS]".into());
    };
    ask_for_punctuality(true);
    let _ = lock_memory();
    println!("ready");
    io::stdin().read_line(&mut String::new())?;
    let lateness = wait_for_instants(least_ns..=most_ns, seconds * 1_000_000_000, fixed_ns);
    let [p50_ns, p99_ns] = [500, 990].map(|per_mille| lateness.quantile(per_mille));
    let (count, max_ns) = (lateness.count(), lateness.max());
    println!(r#"{{"count":{count},"p50_ns":{p50_ns},"p99_ns":{p99_ns},"max_ns":{max_ns}}}"#);
    Ok(())
}

fn wait_for_instants(
    distances_ns: std::ops::RangeInclusive<u64>,
    run_ns: u64,
    fixed_ns: Option<u64>,
) -> Histogram {
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
            let sleep_ns = due_ns.saturating_sub(spin_ns).saturating_sub(now_ns);
            if sleep_ns > 0 {
                thread::sleep(Duration::from_nanos(sleep_ns));
                naps.slept();
            }
        }
        lateness.add(now_ns - due_ns);
    }
    lateness
}
