// SPDX-License-Identifier: Apache-2.0
//! Reasons for which a connection does not send, in its qlog, as far as quinn shows them.
//!
//! With each batch of acknowledgements quinn tells its congestion controller whether it had had nothing to send before:
//! that is its own word, and comes late. That the window is full is concluded by quinn's rule from the numbers in its log:
//! it sends a datagram while that and what is in flight stay below the window (`poll_transmit` of quinn-proto). Nobody is
//! told that the pacer waits, and of credit only frames tell.

use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};
use serde_json::{json, Value};
use stack_common::blocked;

use crate::congestion::{forwarded, Factory};
use crate::qlog::Events;

/// Follows the congestion window through quinn's own events.
#[derive(Default)]
pub struct Window {
    size: u64,
    in_flight: u64,
    datagram: u64,
    full: bool,
}

impl Window {
    /// The event that follows this one, if the window has become full or has room again.
    pub fn hear(&mut self, event: &Value) -> Option<Value> {
        let data = &event["data"];
        match event["name"].as_str() {
            Some("transport:packet_sent") => {
                let length = data["raw"]["length"].as_u64();
                self.datagram = self.datagram.max(length.unwrap_or(0));
                return None;
            }
            Some("recovery:metrics_updated") => {}
            _ => return None,
        }
        // What has not changed is not told.
        let told = |name: &str, before: u64| data[name].as_u64().unwrap_or(before);
        self.size = told("congestion_window", self.size);
        self.in_flight = told("bytes_in_flight", self.in_flight);
        let full = self.size > 0 && self.in_flight + self.datagram >= self.size;
        if full == self.full {
            return None;
        }
        self.full = full;
        let mut data = blocked::change(full, "congestion_control", true);
        data["limit"] = self.size.into();
        Some(json!({"time": event["time"], "name": blocked::OF_CONNECTION, "data": data}))
    }
}

/// Controllers like those of `inner`, whose connection logs when it has nothing to send.
pub fn told(inner: Factory, events: Events) -> Factory {
    Arc::new(ToldConfig { inner, events })
}

struct ToldConfig {
    inner: Factory,
    events: Events,
}

impl ControllerFactory for ToldConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Told {
            inner: self.inner.clone().build(now, current_mtu),
            events: self.events.clone(),
            nothing_to_send: None,
        })
    }
}

struct Told {
    inner: Box<dyn Controller>,
    events: Events,
    nothing_to_send: Option<bool>,
}

impl Controller for Told {
    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        if self.nothing_to_send == Some(app_limited) {
            return;
        }
        let mut data = blocked::change(app_limited, "application", false);
        if let (None, Some(members)) = (self.nothing_to_send, data.as_object_mut()) {
            members.remove("old");
        }
        self.events.add(now, blocked::OF_CONNECTION, &data);
        self.nothing_to_send = Some(app_limited);
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            events: self.events.clone(),
            ..*self
        })
    }

    forwarded!(
        on_ack,
        on_sent,
        on_congestion_event,
        window,
        metrics,
        initial_window
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(time: f64, data: &Value) -> Value {
        json!({"time": time, "name": "recovery:metrics_updated", "data": data})
    }

    /// Full means that the next datagram would not stay below the window; what is not told is as it was.
    #[test]
    fn the_window_is_full_by_quinns_own_rule() {
        let mut window = Window::default();
        let sent = json!({"name": "transport:packet_sent", "data": {"raw": {"length": 1200}}});
        assert!(window.hear(&sent).is_none());
        let roomy = metrics(
            1.0,
            &json!({"congestion_window": 12_000, "bytes_in_flight": 10_799}),
        );
        assert!(window.hear(&roomy).is_none());
        let full = window.hear(&metrics(2.5, &json!({"bytes_in_flight": 10_800})));
        let full = full.expect("an event");
        assert_eq!(
            (&full["time"], &full["name"]),
            (&json!(2.5), &json!(blocked::OF_CONNECTION))
        );
        assert_eq!(
            full["data"],
            json!({
                "old": "unblocked", "new": "blocked", "reason": "congestion_control",
                "limit": 12_000, "inferred": true,
            })
        );
        assert!(window
            .hear(&metrics(3.0, &json!({"min_rtt": 4.0})))
            .is_none());
        let grown = window.hear(&metrics(4.0, &json!({"congestion_window": 13_000})));
        assert_eq!(grown.expect("an event")["data"]["new"], "unblocked");
    }
}
