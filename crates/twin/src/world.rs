// SPDX-License-Identifier: Apache-2.0
//! The course of virtual time: two endpoints, two directions, one event after the other.

use crate::case::Case;
use crate::way::Way;

/// Nothing happens for ever after so long: a transfer that has not ended by then has come to a standstill.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// An endpoint as a state machine without I/O.
pub trait Host {
    /// Packet that it puts on the link.
    type Packet;
    /// Instant at which its earliest timer ends.
    fn wakes_ns(&self) -> Option<u64>;
    /// A timer has ended.
    fn wake(&mut self, now: u64);
    /// A packet has come.
    fn receive(&mut self, now: u64, packet: Self::Packet);
    /// The next packet that it sends now, and the length of its IP packet.
    fn send(&mut self, now: u64) -> Option<(u64, Self::Packet)>;
    /// All that can be sent has been sent.
    fn settle(&mut self, now: u64);
    /// True if it has got all that it asked for.
    fn done(&self) -> bool;
}

/// Everything that a transfer leaves behind.
pub struct World<H: Host> {
    /// The client.
    pub client: H,
    /// The server.
    pub server: H,
    /// The direction to the server.
    pub up: Way<H::Packet>,
    /// The direction to the client.
    pub down: Way<H::Packet>,
    /// Packets that the client sent, by index.
    pub sent_up: Vec<H::Packet>,
    /// Packets that the server sent, by index.
    pub sent_down: Vec<H::Packet>,
    /// The packet with which the client had all: index down.
    pub completing: Option<usize>,
}

impl<H: Host> World<H>
where
    H::Packet: Clone,
{
    /// Runs a transfer to its end; `Err` if it comes to a standstill.
    pub fn run(case: &Case, client: H, server: H) -> Result<Self, String> {
        let mut world = Self {
            client,
            server,
            up: Way::up(case),
            down: Way::down(case),
            sent_up: Vec::new(),
            sent_down: Vec::new(),
            completing: None,
        };
        let mut now = 0;
        flush(now, &mut world.client, &mut world.up, &mut world.sent_up);
        loop {
            let packet = |at: Option<u64>| at.map(|at| at + case.reaction_ns);
            let next = [
                packet(world.up.next_ns()),
                packet(world.down.next_ns()),
                world.client.wakes_ns(),
                world.server.wakes_ns(),
            ];
            let next = next.into_iter().flatten().min();
            now = next
                .map(|at| at.max(now))
                .filter(|at| *at < LONGEST_NS)
                .ok_or_else(|| format!("the transfer stands still after {now} ns"))?;
            world.happen(case, now);
            if world.completing.is_some() {
                return Ok(world);
            }
        }
    }

    /// One event, and what the end sends because of it: the other end does not know of it.
    fn happen(&mut self, case: &Case, now: u64) {
        let by = now.saturating_sub(case.reaction_ns);
        if let Some((_, _, packet)) = self.up.take(by) {
            self.server.receive(now, packet);
            flush(now, &mut self.server, &mut self.down, &mut self.sent_down);
        } else if let Some((_, index, packet)) = self.down.take(by) {
            self.client.receive(now, packet);
            if self.client.done() {
                self.completing = Some(index);
            }
            flush(now, &mut self.client, &mut self.up, &mut self.sent_up);
        } else if self.server.wakes_ns().is_some_and(|at| at <= now) {
            self.server.wake(now);
            flush(now, &mut self.server, &mut self.down, &mut self.sent_down);
        } else {
            self.client.wake(now);
            flush(now, &mut self.client, &mut self.up, &mut self.sent_up);
        }
    }
}

fn flush<H: Host>(now: u64, host: &mut H, way: &mut Way<H::Packet>, sent: &mut Vec<H::Packet>)
where
    H::Packet: Clone,
{
    while let Some((size, packet)) = host.send(now) {
        sent.push(packet.clone());
        way.offer(now, size, packet);
    }
    host.settle(now);
}
