// SPDX-License-Identifier: Apache-2.0
//! One direction of the path: link-core's model, what is on its way, and the log that a real link would write.

use std::collections::VecDeque;

use link_core::{
    BitRate, Bytes, Chance, Direction, DirectionConfig, DropReason, Fate, Loss, LossAt, LossKey,
    Nanos, Oversize, QueueBound, Reorder, Service, StreamKey, Timeline, Verdict,
};

use crate::case::{Case, LossBy};

/// Length of the other flow's packets.
const OTHER_BYTES: u64 = 1200;

/// One packet in the log of the link.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Instant at which the packet reached the link.
    pub arrival_ns: u64,
    /// Length of the IP packet.
    pub size: u64,
    /// Verdict of the model on it.
    pub verdict: Verdict,
    /// End of its service; `None` if it was never served.
    pub left_ns: Option<u64>,
}

impl Logged {
    /// Instant at which its last bit reaches the far end; `None` if it was lost.
    #[must_use]
    pub fn due_ns(&self) -> Option<u64> {
        match self.verdict.fate {
            Fate::Delivered(delivery) => Some(delivery.due.0),
            _ => None,
        }
    }

    /// True if it was held back on purpose.
    #[must_use]
    pub fn reordered(&self) -> bool {
        matches!(self.verdict.fate, Fate::Delivered(delivery) if delivery.reordered)
    }

    /// Begin of its service.
    #[must_use]
    pub fn begin_ns(&self) -> Option<u64> {
        self.left_ns.map(|left| left - self.verdict.service.0)
    }
}

/// One direction.
pub struct Way<P> {
    direction: Direction,
    free_ns: u64,
    /// Another flow: time from packet to packet, and the instant of the next.
    other_ns: Option<u64>,
    next_other_ns: u64,
    /// Packets of the other flow.
    pub others: Vec<Logged>,
    /// Every packet that came to the link, by index.
    pub log: Vec<Logged>,
    /// Packets that will arrive: instant, index, packet.
    coming: VecDeque<(u64, usize, P)>,
}

impl<P> Way<P> {
    /// Instant at which the last packet had come to the far end by another one: what a capture there shows of it.
    #[must_use]
    pub fn came_by(&self, at_ns: Option<u64>) -> Option<u64> {
        let at_ns = at_ns?;
        let came = self.log.iter().filter_map(Logged::due_ns);
        came.filter(|came| *came <= at_ns).max()
    }

    /// The direction to the client.
    pub fn down(case: &Case) -> Self {
        let loss = if case.drop_down.is_empty() {
            bernoulli(case.loss_down)
        } else {
            Some(Loss::List(case.drop_down.clone()))
        };
        let bound = QueueBound {
            bytes: case.queue_bytes.map(Bytes),
            ..QueueBound::default()
        };
        let mut made = Self::new(case, "down", case.rate_down, loss, bound);
        made.other_ns = case
            .other_rate
            .map(|rate| OTHER_BYTES * 8_000_000_000 / rate);
        made
    }

    /// The direction to the server.
    pub fn up(case: &Case) -> Self {
        let loss = bernoulli(case.loss_up);
        Self::new(case, "up", case.rate_up, loss, QueueBound::default())
    }

    fn new(
        case: &Case,
        name: &str,
        rate: Option<u64>,
        loss: Option<Loss>,
        bound: QueueBound,
    ) -> Self {
        let reorder = (name == "down" && case.reorder > 0.0).then(|| Reorder {
            chance: Chance::new(case.reorder).expect("a share of packets"),
            extra_delay: Nanos(case.reorder_ns),
        });
        let oversize = case
            .oversize_above
            .filter(|_| name == "down")
            .map(|above| Oversize {
                above: Bytes(above),
                chance: Chance::new(case.oversize).expect("a share of packets"),
                from: Nanos::ZERO,
                told: false,
            });
        let config = DirectionConfig {
            service: Service::Rate(Timeline::constant(rate.map(BitRate))),
            queue: Timeline::constant(bound),
            delay: Timeline::constant(Nanos(case.delay_ns)),
            oversize: Timeline::constant(oversize),
            loss: Timeline::constant(loss),
            loss_by: match case.loss_by {
                LossBy::Index => LossKey::Index,
                LossBy::Class => LossKey::Class,
                LossBy::Bytes => LossKey::Bytes,
            },
            loss_at: if case.loss_at_exit {
                LossAt::Exit
            } else {
                LossAt::Entry
            },
            reorder: Timeline::constant(reorder),
            ..DirectionConfig::default()
        };
        let key = StreamKey::new(case.seed, "bottleneck", name);
        Self {
            direction: Direction::new(&config, &key),
            free_ns: 0,
            other_ns: None,
            next_other_ns: 0,
            others: Vec::new(),
            log: Vec::new(),
            coming: VecDeque::new(),
        }
    }

    /// Puts a packet on the link, behind all that the other flow has sent by now; its index in the log.
    pub fn offer(&mut self, now: u64, size: u64, packet: P) -> usize {
        while let Some(every_ns) = self.other_ns.filter(|_| self.next_other_ns <= now) {
            let logged = self.serve(self.next_other_ns, OTHER_BYTES);
            self.others.push(logged);
            self.next_other_ns += every_ns;
        }
        let logged = self.serve(now, size);
        let index = self.log.len();
        if let Fate::Delivered(delivery) = logged.verdict.fate {
            let due_ns = delivery.due.0;
            let at = self.coming.partition_point(|(at, _, _)| *at <= due_ns);
            self.coming.insert(at, (due_ns, index, packet));
        }
        self.log.push(logged);
        index
    }

    fn serve(&mut self, now: u64, size: u64) -> Logged {
        let verdict = self.direction.offer(Nanos(now), Bytes(size));
        let served = match verdict.fate {
            Fate::Delivered(_) | Fate::Dropped(DropReason::LossAtExit) => true,
            Fate::Dropped(DropReason::Listed) => verdict.service.0 > 0,
            _ => false,
        };
        let left_ns = served.then(|| now.max(self.free_ns) + verdict.service.0);
        self.free_ns = left_ns.unwrap_or(self.free_ns);
        Logged {
            arrival_ns: now,
            size,
            verdict,
            left_ns,
        }
    }

    /// Instant at which the next packet arrives.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.coming.front().map(|(at, _, _)| *at)
    }

    /// The packet that has arrived by now.
    pub fn take(&mut self, now: u64) -> Option<(u64, usize, P)> {
        if self.next_ns()? <= now {
            self.coming.pop_front()
        } else {
            None
        }
    }
}

fn bernoulli(share: f64) -> Option<Loss> {
    (share > 0.0).then(|| Loss::Bernoulli(Chance::new(share).expect("a share of packets")))
}
