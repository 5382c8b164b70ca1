// SPDX-License-Identifier: Apache-2.0
//! Requests to a run while it runs: that its workload begins, and changes of its settings.

use link_core::Nanos;
use serde_json::{json, Value};

use super::{event, Run};
use crate::clock::monotonic_ns;
use crate::config::LiveChange;
use crate::lane::Lane;

/// Most bytes of a line that a run is told; a longer one is not heard.
const LONGEST_LINE: usize = 1 << 20;

impl Run {
    /// Does what it is told: a change is a line of JSON, and anything else begins the workload.
    pub fn hear(&mut self, bytes: &[u8]) {
        self.heard.extend_from_slice(bytes);
        while let Some(end) = self.heard.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.heard.drain(..=end).collect();
            if line.starts_with(b"{") {
                let answer = match self.change(&line) {
                    Ok(at) => event("changed", &json!({"at_ns": at.0}), json!({})),
                    Err(message) => event("refused", &json!({ "message": message }), json!({})),
                };
                self.talk.tell(&answer);
            } else {
                self.begin();
            }
        }
        if self.heard.len() > LONGEST_LINE {
            self.heard.clear();
        }
    }

    /// The workload begins.
    fn begin(&mut self) {
        self.lanes.iter_mut().for_each(Lane::begin);
        self.talk.tell(&event("begun", &json!({}), json!({})));
    }

    /// Changes settings of a link, both directions at once or neither: the instant, in its model's time.
    fn change(&mut self, line: &[u8]) -> Result<Nanos, String> {
        let told = LiveChange::read(line)?;
        let number = told.number(&self.config)?;
        let now_ns = monotonic_ns();
        let zero_ns = self.zeros[number].get();
        let at = Nanos(zero_ns.map_or(0, |zero_ns| now_ns.saturating_sub(zero_ns)));
        if told.is_empty() {
            return Ok(at);
        }
        let replaced = told.replaced(&self.config, number, at)?;
        let lanes = &mut self.lanes[2 * number..2 * number + 2];
        for ((name, lane), replaced) in ["up", "down"].iter().zip(&*lanes).zip(&replaced) {
            if let Some(why) = replaced.as_ref().and_then(|it| lane.why_not(it)) {
                return Err(format!("{name}.{why}"));
            }
        }
        for (direction, replaced) in replaced.into_iter().enumerate() {
            if let Some(replaced) = replaced {
                lanes[direction].change(at, &replaced);
                self.config.replace(number, direction, replaced.written);
            }
        }
        let mut noted = serde_json::from_slice::<Value>(line).unwrap_or_default();
        noted["change"]["at_ns"] = at.0.into();
        self.changes.push(noted["change"].take());
        Ok(at)
    }
}
