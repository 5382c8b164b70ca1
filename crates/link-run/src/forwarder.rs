// SPDX-License-Identifier: Apache-2.0
//! The loop that keeps packets moving: turns while there is work, else sleeps, and spins before what is due.

use std::io;
use std::time::Duration;

use crate::clock::monotonic_ns;
use crate::control::{Control, Wait};
use crate::lane::{Account, Lane};
use crate::stalls::Stalls;
use crate::timer::Naps;

/// How often the request to stop is looked for while there is no time to sleep.
const LOOK_NS: u64 = 1_000_000;

/// Moves the packets of all directions, in this thread, until `control` says stop, and spins for the last `spin_ns`
/// before a due time. Calls `begun` as soon as it has been told that the workload begins and is ready
/// for it.
///
/// # Errors
/// If a device is lost.
pub fn run(
    mut lanes: Vec<Lane<'_>>,
    control: &Control,
    spin_ns: u64,
    begun: impl Fn(),
) -> io::Result<Vec<Account>> {
    let mut wait = Wait::new(control, lanes.iter().flat_map(Lane::fds));
    let mut naps = Naps::default();
    let mut looked_ns = monotonic_ns();
    let mut stalls = Stalls::new(looked_ns);
    loop {
        if wait.was_told_to_begin() {
            lanes.iter_mut().for_each(Lane::begin);
            begun();
        }
        let mut busy = false;
        for lane in &mut lanes {
            busy |= lane.turn(&mut stalls)?;
        }
        let now_ns = monotonic_ns();
        stalls.look(now_ns);
        naps.nap_if_due(now_ns);
        if now_ns - looked_ns >= LOOK_NS {
            looked_ns = now_ns;
            for lane in &mut lanes {
                lane.hand_logs_over(now_ns);
            }
            if wait.stops() {
                break;
            }
        }
        if busy {
            continue;
        }
        let due_ns = lanes.iter().filter_map(Lane::next_ns).min();
        let sleep_ns = due_ns.map(|due_ns| due_ns.saturating_sub(spin_ns).saturating_sub(now_ns));
        if sleep_ns == Some(0) {
            continue;
        }
        let logs_ns = lanes
            .iter_mut()
            .filter_map(|lane| lane.hand_logs_over(now_ns))
            .min()
            .map(|at_ns| at_ns.saturating_sub(now_ns));
        let timeout = sleep_ns.into_iter().chain(logs_ns).min();
        if wait.until_ready(timeout.map(Duration::from_nanos))? {
            break;
        }
        naps.slept();
    }
    lanes.into_iter().map(Lane::finish).collect()
}
