// SPDX-License-Identifier: Apache-2.0
//! The loop that keeps packets moving: turns while there is work, else sleeps, and spins before what is due.

use std::io;
use std::thread;
use std::time::Duration;

use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::control::{Control, Request, Wait};
use crate::precedence::{self, Precedence};
use crate::run::Run;
use crate::serve::Arrivals;
use crate::stalls::Stalls;
use crate::timer::Naps;

/// Interval at which requests are looked for while there is no time to sleep.
const LOOK_NS: u64 = 1_000_000;

/// Moves the packets of all runs, in this thread, and spins for the last `spin_ns` before a due time. Each run that is
/// over, and how, is handed to `over`. Returns when no run is left and none can arrive, or on a signal.
pub fn run(
    control: &Control,
    arrivals: Option<&Arrivals>,
    mut runs: Vec<Run>,
    spin_ns: u64,
    mut over: impl FnMut(Run, io::Result<()>),
) {
    let arrives = arrivals.map(Arrivals::fd);
    let mut wait = watch(control, arrives, &runs);
    let mut may_arrive = arrivals.is_some();
    let mut naps = Naps::default();
    let mut looked_ns = monotonic_ns();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut taken = Precedence::new(looked_ns, thread_cpu_ns(), cores, arrivals.is_some());
    let mut stalls = Stalls::new(looked_ns);
    let mut ended: Vec<(usize, io::Result<()>)> = Vec::new();
    while may_arrive || !runs.is_empty() {
        let mut changed = false;
        for request in wait.told() {
            match (request, arrivals) {
                (Request::Stop, _) => {
                    runs.drain(..).for_each(|run| over(run, Ok(())));
                    return;
                }
                (Request::Arrival, Some(arrivals)) => {
                    may_arrive = arrivals.take(&mut runs);
                    changed = true;
                }
                (Request::Arrival, None) => {}
                (Request::Told(number, bytes), _) => runs[number].hear(&bytes),
                (Request::End(number), _) => ended.push((number, Ok(()))),
                (Request::Lost(number, error), _) => ended.push((number, Err(error))),
            }
        }
        let mut busy = false;
        for (number, run) in runs.iter_mut().enumerate() {
            match run.turn(&mut stalls) {
                Ok(moved) => busy |= moved,
                Err(error) => ended.push((number, Err(error))),
            }
        }
        if !ended.is_empty() {
            // From the last on, so that the numbers of those before stay true; once each, whatever came first.
            ended.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
            ended.dedup_by_key(|(number, _)| *number);
            for (number, moved) in ended.drain(..) {
                over(runs.remove(number), moved);
            }
            changed = true;
        }
        if changed {
            let at_once = runs.len();
            for run in &mut runs {
                run.beside(at_once);
            }
            wait = watch(control, arrives.filter(|_| may_arrive), &runs);
            continue;
        }
        let now_ns = monotonic_ns();
        stalls.look(now_ns);
        naps.nap_if_due(now_ns);
        if now_ns - looked_ns >= LOOK_NS {
            looked_ns = now_ns;
            if taken.look(now_ns, thread_cpu_ns()) && precedence::give_way() {
                for run in &mut runs {
                    run.gave_way(now_ns);
                }
            }
            for run in &mut runs {
                run.hand_logs_over(now_ns);
            }
            if wait.looks() {
                continue;
            }
        }
        if busy {
            continue;
        }
        let due_ns = runs.iter().filter_map(Run::next_ns).min();
        let sleep_ns = due_ns.map(|due_ns| {
            let left_ns = due_ns.saturating_sub(now_ns);
            naps.in_time_ns(left_ns)
                .max(left_ns.saturating_sub(spin_ns))
        });
        if sleep_ns == Some(0) {
            continue;
        }
        let logs_ns = runs
            .iter_mut()
            .filter_map(|run| run.hand_logs_over(now_ns))
            .min()
            .map(|at_ns| at_ns.saturating_sub(now_ns));
        let timeout = sleep_ns.into_iter().chain(logs_ns).min();
        wait.until_ready(timeout.map(Duration::from_nanos));
        naps.slept();
    }
}

fn watch(control: &Control, arrives: Option<std::os::fd::RawFd>, runs: &[Run]) -> Wait {
    let watched: Vec<_> = runs.iter().map(Run::watched).collect();
    Wait::new(control, arrives, &watched)
}
