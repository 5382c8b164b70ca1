// SPDX-License-Identifier: Apache-2.0
//! Samples of Linux's view of a TCP sender (`struct tcp_info`), as the testbed takes them.

use crate::state::Data;
use crate::tcp::sender::{Phase, Sender};

/// One sample of the server's connection.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The instant.
    pub at_ns: u64,
    /// The state of congestion.
    pub phase: Phase,
    /// Congestion window in segments.
    pub window: u64,
    /// Slow-start threshold in segments; `None` before anything set it.
    pub threshold: Option<u64>,
    /// Bytes that the program wrote and that were not sent yet.
    pub unsent: u64,
    /// Segments: unacknowledged, arrived beyond a hole, lost, sent again.
    pub counts: [u64; 4],
    /// Time with something to send, limited by the receive window, limited by the send buffer.
    pub clocks_ns: [u64; 3],
    /// Segments with payload that were sent.
    pub segments_sent: u64,
    /// Segments that have come, as far as acknowledgments say.
    pub delivered: u64,
}

/// The clocks (`tcp_chrono`) and the samples.
pub struct Kernel {
    every_ns: u64,
    next_ns: u64,
    since_ns: u64,
    clocks_ns: [u64; 3],
    running: [bool; 3],
    /// The samples so far.
    pub samples: Vec<Sample>,
}

impl Kernel {
    /// Samples at min(10 ms, RTT/4), but 1 ms at least.
    pub fn new(rtt_ns: u64) -> Self {
        Self {
            every_ns: (rtt_ns / 4).clamp(1_000_000, 10_000_000),
            next_ns: 0,
            since_ns: 0,
            clocks_ns: [0; 3],
            running: [false; 3],
            samples: Vec::new(),
        }
    }

    /// Takes the samples that are due up to now; nothing has changed since the last call.
    pub fn run_to(&mut self, now: u64, sender: &Sender) {
        while self.next_ns <= now {
            self.advance(self.next_ns);
            let [_, unacked, arrived, lost, again] = sender.counts();
            self.samples.push(Sample {
                at_ns: self.next_ns,
                phase: sender.phase,
                window: sender.window.segments,
                threshold: sender.window.threshold,
                unsent: sender.written - sender.next,
                counts: [unacked, arrived, lost, again],
                clocks_ns: self.clocks_ns,
                segments_sent: sender.segments_sent,
                delivered: sender.delivered,
            });
            self.next_ns += self.every_ns;
        }
        self.advance(now);
    }

    fn advance(&mut self, now: u64) {
        for (clock, running) in self.clocks_ns.iter_mut().zip(self.running) {
            *clock += if running { now - self.since_ns } else { 0 };
        }
        self.since_ns = now;
    }

    /// Sets what is so from now on. The clocks of limits exclude each other: the congestion window
    /// counts first.
    pub fn set(&mut self, busy: bool, window: bool, data: Data) {
        self.running = [
            busy,
            !window && data == Data::ReceiveWindow,
            data == Data::SendBuffer,
        ];
    }
}
