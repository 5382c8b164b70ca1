// SPDX-License-Identifier: Apache-2.0
//! quinn's own congestion control, and what it is told: losses, bytes in flight, reductions of the window.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

use crate::state::Tightened;

/// No window that anybody fills, and beyond what quinn paces.
pub const UNLIMITED: u64 = 1 << 40;

/// One thing that quinn tells its congestion control.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// Bytes in flight after a batch of acknowledgments, before what they show to be lost.
    InFlight(u64),
    /// Bytes of packets that were declared lost together.
    Lost(u64),
}

/// Events that were told since they were last asked for.
#[derive(Debug, Default)]
pub struct Heard {
    /// All of it, in order.
    pub told: Vec<Told>,
    /// Event that last tightened the window.
    pub tightened: Tightened,
}

/// State that both sides of the ear hold.
pub type Ear = Arc<Mutex<Heard>>;

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// Controllers of `inner`, or none where that is `None`.
pub struct Listened {
    /// quinn's own.
    pub inner: Option<Factory>,
    /// Window beyond which none grows.
    pub bound: Option<u64>,
    /// True if each loss reduces the window, also one of a packet that was sent before the last reduction.
    pub reduces_in_recovery: bool,
    /// Ear that is told.
    pub ear: Ear,
}

impl ControllerFactory for Listened {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone();
        Box::new(Listening {
            inner: inner.map(|inner| inner.build(now, current_mtu)),
            bound: self.bound,
            reduces_in_recovery: self.reduces_in_recovery,
            ear: self.ear.clone(),
        })
    }
}

struct Listening {
    inner: Option<Box<dyn Controller>>,
    bound: Option<u64>,
    reduces_in_recovery: bool,
    ear: Ear,
}

impl Controller for Listening {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        if let Some(inner) = &mut self.inner {
            inner.on_sent(now, bytes, last_packet_number);
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if let Some(inner) = &mut self.inner {
            inner.on_ack(now, sent, bytes, app_limited, rtt);
        }
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        let mut heard = self.ear.lock().expect("one thread");
        heard.told.push(Told::InFlight(in_flight));
        if let Some(inner) = &mut self.inner {
            inner.on_end_acks(now, in_flight, app_limited, largest);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        lost_bytes: u64,
    ) {
        let before = self.window();
        let sent = if self.reduces_in_recovery { now } else { sent };
        if let Some(inner) = &mut self.inner {
            inner.on_congestion_event(now, sent, persistent, lost_bytes);
        }
        let mut heard = self.ear.lock().expect("one thread");
        heard.told.push(Told::Lost(lost_bytes));
        if self.window() < before {
            heard.tightened = Tightened::ByLoss;
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        if let Some(inner) = &mut self.inner {
            inner.on_mtu_update(new_mtu);
        }
    }

    fn window(&self) -> u64 {
        let inner = self.inner.as_ref();
        let window = inner.map_or(UNLIMITED, |inner| inner.window());
        self.bound.map_or(window, |bound| window.min(bound))
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.as_ref().map(|inner| inner.clone_box()),
            bound: self.bound,
            reduces_in_recovery: self.reduces_in_recovery,
            ear: self.ear.clone(),
        })
    }

    fn initial_window(&self) -> u64 {
        let inner = self.inner.as_ref();
        inner.map_or(UNLIMITED, |inner| inner.initial_window())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
