// SPDX-License-Identifier: Apache-2.0
//! Mahimahi rate traces: instants at which up to 1500 bytes may leave.

use crate::units::{Bytes, Nanos};

/// Bytes that one delivery opportunity carries.
const OPPORTUNITY: u64 = 1500;

/// Delivery opportunities in order of time.
///
/// As in Mahimahi: bytes of an opportunity for which no packet waits at its instant are wasted, small packets share an
/// opportunity, and a packet that does not fit goes on in the next one and leaves with its last byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    opportunities: Vec<Nanos>,
    period: Option<Nanos>,
}

impl Trace {
    /// Reads the trace format: one whole number of milliseconds a line, never decreasing. A repeated trace starts
    /// again at its last instant.
    ///
    /// # Errors
    /// A sentence that names the offending line.
    pub fn parse(text: &str, repeat: bool) -> Result<Self, String> {
        let mut opportunities: Vec<Nanos> = Vec::new();
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let at = line
                .trim()
                .parse::<u64>()
                .ok()
                .and_then(|ms| ms.checked_mul(1_000_000))
                .ok_or_else(|| {
                    format!(
                        "line {}: '{line}' is not a whole number of milliseconds",
                        number + 1
                    )
                })?;
            if opportunities.last().is_some_and(|last| last.0 > at) {
                return Err(format!(
                    "line {}: {line} ms is before the line above",
                    number + 1
                ));
            }
            opportunities.push(Nanos(at));
        }
        match opportunities.last() {
            None => Err("the trace is empty".to_owned()),
            Some(Nanos(0)) if repeat => Err("a trace that repeats must end after 0 ms".to_owned()),
            Some(&end) => Ok(Self {
                period: repeat.then_some(end),
                opportunities,
            }),
        }
    }

    /// The instant of opportunity `number`, counted over all repetitions; `None` when the trace is over.
    fn instant(&self, number: u64) -> Option<Nanos> {
        let length = self.opportunities.len() as u64;
        let lap = number / length;
        let within = usize::try_from(number % length).ok()?;
        match self.period {
            Some(period) => Some(Nanos(period.0.checked_mul(lap)?) + self.opportunities[within]),
            None => (lap == 0).then(|| self.opportunities[within]),
        }
    }

    /// The first opportunity at or after `t`.
    fn first_at(&self, t: Nanos) -> u64 {
        let length = self.opportunities.len() as u64;
        let (lap, within) = match self.period {
            // An opportunity at the very end of a lap is still to come at that instant: hence `t - 1`.
            Some(period) if t.0 > 0 => (
                (t.0 - 1) / period.0,
                t - Nanos((t.0 - 1) / period.0 * period.0),
            ),
            _ => (0, t),
        };
        lap * length + self.opportunities.partition_point(|&at| at < within) as u64
    }
}

/// Position in a trace up to which it has been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceClock {
    free: Nanos,
    opportunity: u64,
    used: u64,
}

impl TraceClock {
    /// The instant at which the last byte sent so far left.
    #[must_use]
    pub const fn free(self) -> Nanos {
        self.free
    }

    /// The clock after one more packet, which is ready to be sent at `ready`: its last byte leaves at `free()`.
    #[must_use]
    pub fn after(mut self, trace: &Trace, ready: Nanos, size: Bytes) -> Self {
        let first = trace.first_at(ready);
        if first > self.opportunity {
            self.opportunity = first;
            self.used = 0;
        }
        let total = self.used + size.0;
        // The last byte of a packet that fills an opportunity to the brim still leaves in that one.
        self.opportunity += (total - 1) / OPPORTUNITY;
        self.used = (total - 1) % OPPORTUNITY + 1;
        self.free = trace.instant(self.opportunity).unwrap_or(Nanos::NEVER);
        self
    }
}
