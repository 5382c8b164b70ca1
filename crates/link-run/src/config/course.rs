// SPDX-License-Identifier: Apache-2.0
//! Delays and losses over time in the configuration file, as scheduled or as recorded, and the period of a schedule.

use link_core as core;
use link_core::{Nanos, Timeline};

use super::direction::{Change, Direction, Setting};
use super::elements::{optional, recorded, Loss};

/// Shortest period of a schedule: each period takes steps of its own, also while no packet comes.
const LEAST_PERIOD_NS: u64 = 10_000_000;

impl Direction {
    /// The delay over time: that of the schedule, or as it was recorded.
    pub(super) fn delays(&self) -> Result<Timeline<Nanos>, String> {
        let scheduled = self.timeline(
            "delay_ns",
            &self.delay_ns,
            |set| &set.delay_ns,
            |ns| Ok(Nanos(*ns)),
        )?;
        let Some(path) = &self.delay_trace else {
            return Ok(scheduled);
        };
        if scheduled.values().nth(1).is_some() {
            return Err("delay_trace: has the delays; no change can set delay_ns".to_owned());
        }
        let delays = recorded(path, core::parse_delays)
            .map_err(|message| format!("delay_trace{message}"))?;
        self.anew(delays, "delay_trace")
    }

    /// The loss over time. A recording begins anew in each period of the schedule.
    pub(super) fn losses(&self) -> Result<Timeline<Option<core::Loss>>, String> {
        let losses = self.timeline(
            "loss",
            &self.loss,
            |set| &set.loss,
            |loss| optional(loss, Loss::element),
        )?;
        let timed = losses
            .values()
            .any(|loss| matches!(loss, Some(core::Loss::Timed(_))));
        if timed && losses.values().nth(1).is_none() {
            return self.anew(losses, "loss");
        }
        Ok(losses)
    }

    /// A recording that begins anew in each period, if there are any.
    pub(super) fn anew<T>(&self, course: Timeline<T>, field: &str) -> Result<Timeline<T>, String> {
        match self.repeat_ns.map(Nanos) {
            None => Ok(course),
            Some(period) if course.last_change() < period => Ok(course.repeated(period)),
            Some(Nanos(period)) => Err(format!(
                "{field}: its last line is not before the end of the period (repeat_ns), {period} ns"
            )),
        }
    }

    /// The period of the schedule holds all of its changes, and is long enough to be followed.
    pub(super) fn check_period(&self) -> Result<(), String> {
        let Some(period) = self.repeat_ns else {
            return Ok(());
        };
        if period < LEAST_PERIOD_NS {
            return Err(format!(
                "repeat_ns: {period} is below {LEAST_PERIOD_NS} (10 ms)"
            ));
        }
        if let Some(late) = self.schedule.iter().find(|change| change.at_ns >= period) {
            return Err(format!(
                "repeat_ns: a change at {} ns is not before the end of the period, {period}",
                late.at_ns
            ));
        }
        let stops = |change: &Change| match change.set.rate_bit_per_s {
            Setting::To(rate) => rate == Some(0),
            Setting::Kept => true,
        };
        if self.rate_bit_per_s == Some(0) && self.schedule.iter().all(stops) {
            return Err("repeat_ns: the rate is 0 for ever; leave repeat_ns out".to_owned());
        }
        Ok(())
    }
}
