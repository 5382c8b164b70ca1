// SPDX-License-Identifier: Apache-2.0
//! One direction of a link: the stages in their order, and the verdict on each packet.

mod change;
mod corrupt;
mod loss_reason;
mod oversize;
mod police;
mod super_packets;

pub use oversize::Oversize;
pub use police::{Block, Police, PoliceStage};

use std::collections::BTreeSet;

use corrupt::CorruptStage;
use super_packets::SuperPackets;

use crate::aqm::{Aqm, ManagedQueue};
use crate::bottleneck::Bottleneck;
use crate::chance_stage::ChanceStage;
use crate::delay::{DelayStage, Jitter};
use crate::loss::{Address, Loss, LossKey, LossKind, LossRules, LossStage};
use crate::packet::{Ecn, Packet};
use crate::queue::{Occupancy, QueueBound};
use crate::random::{Chance, StreamKey};
use crate::slot::Slot;
use crate::timeline::Timeline;
use crate::transmitter::{Service, Transmitter};
use crate::units::{BitRate, Bytes, Nanos};
use crate::verdict::{Copied, Delivery, DropReason, Fate, Verdict};

/// Most bytes that the edge holds. Real senders are held back by their network card; here nothing
/// holds them back, and this bounds the memory.
const EDGE_QUEUE: Bytes = Bytes(64 << 20);

/// Place of random and listed loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAt {
    /// Loss before the queue: lost packets take none of the bottleneck's time.
    Entry,
    /// Loss behind the queue.
    Exit,
}

/// Packets that are sent late by themselves, so that others overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The share of packets.
    pub chance: Chance,
    /// Additional delay of these packets.
    pub extra_delay: Nanos,
}

/// Everything that one direction does.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionConfig {
    /// The sender's own interface, before anything else; `None` takes no time.
    pub edge_rate: Option<BitRate>,
    /// A transport that is not let in.
    pub block: Timeline<Option<Block>>,
    /// A transport whose rate is policed.
    pub police: Timeline<Option<Police>>,
    /// A size above which packets are lost.
    pub oversize: Timeline<Option<Oversize>>,
    /// The bottleneck.
    pub service: Service,
    /// Framing that takes time to send besides the IP packet, per packet.
    pub overhead: Bytes,
    /// Slots behind the bottleneck, which hold packets and let them out together.
    pub slot: Timeline<Option<Slot>>,
    /// Bounds of the bottleneck's queue.
    pub queue: Timeline<QueueBound>,
    /// Management of that queue; `None` is droptail. A queue that is ever managed has no bound in
    /// time, and one with queues by flow has them all the time.
    pub aqm: Timeline<Option<Aqm>>,
    /// Propagation delay.
    pub delay: Timeline<Nanos>,
    /// Variation of the delay.
    pub jitter: Timeline<Option<Jitter>>,
    /// Random or listed loss.
    pub loss: Timeline<Option<Loss>>,
    /// Key by which the draws of loss are numbered.
    pub loss_by: LossKey,
    /// Packets that are lost beside those of the loss model.
    pub drop: Vec<Address>,
    /// Packets that no loss model loses.
    pub spare: Vec<Address>,
    /// Place of the loss.
    pub loss_at: LossAt,
    /// True if a packet that is ECN-capable is marked where a random model would lose it.
    pub loss_marks: bool,
    /// Chance with which a packet comes twice, or not, as the one before it did.
    pub duplicate_repeat: Chance,
    /// Chance with which a packet is corrupted, or not, as the one before it was.
    pub corrupt_repeat: Chance,
    /// Reordering of a share of packets by itself.
    pub reorder: Timeline<Option<Reorder>>,
    /// The share of packets that come twice.
    pub duplicate: Timeline<Chance>,
    /// The share of packets that come with a bit turned over.
    pub corrupt: Timeline<Chance>,
}

/// A direction that does nothing.
impl Default for DirectionConfig {
    fn default() -> Self {
        Self {
            edge_rate: None,
            block: Timeline::constant(None),
            police: Timeline::constant(None),
            oversize: Timeline::constant(None),
            service: Service::Rate(Timeline::constant(None)),
            overhead: Bytes(0),
            slot: Timeline::constant(None),
            queue: Timeline::constant(QueueBound::default()),
            aqm: Timeline::constant(None),
            delay: Timeline::constant(Nanos::ZERO),
            jitter: Timeline::constant(None),
            loss: Timeline::constant(None),
            loss_by: LossKey::default(),
            drop: Vec::new(),
            spare: Vec::new(),
            loss_at: LossAt::Entry,
            loss_marks: false,
            duplicate_repeat: Chance::NEVER,
            corrupt_repeat: Chance::NEVER,
            reorder: Timeline::constant(None),
            duplicate: Timeline::constant(Chance::NEVER),
            corrupt: Timeline::constant(Chance::NEVER),
        }
    }
}

/// The stages of one direction, in this order: edge → block and police → oversize → loss (entry) → queue and rate → slot → loss (exit) →
/// delay and jitter → reorder → duplicate → corrupt.
///
/// The edge is the sender's own interface, so it comes before anything that the network does; what the network loses
/// has still passed it.
///
/// The verdict on a packet follows from the arrivals up to its own (in a managed queue: up to its turn), the
/// configuration and the seed: a late call gets the same answer, and a recorded list of arrivals gives the same
/// verdicts again, bit for bit.
#[derive(Clone, Debug)]
pub struct Direction {
    next_index: u32,
    super_packets: SuperPackets,
    /// True if the packets of one share the draws of loss, jitter, reordering and duplication.
    by_super_packet: bool,
    // Boxed, as far as few paths have it: directions are moved over the stack, two at a time.
    edge: Option<Box<Bottleneck>>,
    police: Box<PoliceStage>,
    oversize: Box<ChanceStage<Option<Oversize>>>,
    loss: Box<LossStage>,
    loss_at: LossAt,
    loss_marks: bool,
    /// Packets in a managed queue that the loss before it has marked.
    marked: BTreeSet<u32>,
    bottleneck: Middle,
    delay: DelayStage,
    reorder: ChanceStage<Option<Reorder>>,
    duplicate: ChanceStage<Chance>,
    corrupt: CorruptStage,
    corrupt_copy: CorruptStage,
}

/// Queue and rate.
#[derive(Clone, Debug)]
enum Middle {
    Droptail(Box<Bottleneck>),
    Managed(Box<ManagedQueue>),
}

impl Direction {
    /// Builds the stages; `key` names link and direction.
    #[must_use]
    pub fn new(config: &DirectionConfig, key: &StreamKey) -> Self {
        let edge = config.edge_rate.map(|rate| {
            let bound = QueueBound {
                bytes: Some(EDGE_QUEUE),
                ..QueueBound::default()
            };
            let service = Service::Rate(Timeline::constant(Some(rate)));
            let bound = Timeline::constant(bound);
            Box::new(Bottleneck::new(service, bound, config.overhead, key))
        });
        let oversize_chance =
            |setting: &Option<Oversize>| setting.map_or(Chance::NEVER, |oversize| oversize.chance);
        let reorder_chance =
            |setting: &Option<Reorder>| setting.map_or(Chance::NEVER, |reorder| reorder.chance);
        let corrupt = |stage| CorruptStage::new(&config.corrupt, config.corrupt_repeat, key, stage);
        Self {
            next_index: 0,
            super_packets: SuperPackets::default(),
            by_super_packet: config.loss_by == LossKey::SuperPacket,
            edge,
            police: Box::new(PoliceStage::new(config.block.clone(), &config.police)),
            oversize: Box::new(ChanceStage::new(
                config.oversize.clone(),
                oversize_chance,
                key,
                "oversize",
            )),
            loss: Box::new(LossStage::new(
                LossRules {
                    models: &config.loss,
                    key: config.loss_by,
                    drop: &config.drop,
                    spare: &config.spare,
                },
                key,
            )),
            loss_at: config.loss_at,
            loss_marks: config.loss_marks,
            marked: BTreeSet::new(),
            bottleneck: Middle::new(config, key),
            delay: DelayStage::new(config.delay.clone(), &config.jitter, key),
            reorder: ChanceStage::new(config.reorder.clone(), reorder_chance, key, "reorder"),
            duplicate: ChanceStage::new(
                config.duplicate.clone(),
                |chance| *chance,
                key,
                "duplicate",
            )
            .repeating(config.duplicate_repeat, key, "duplicate"),
            corrupt: corrupt("corrupt"),
            corrupt_copy: corrupt("corrupt-copy"),
        }
    }

    /// Judges the packet that arrives at `arrival`, which is never before the last one's, nor before
    /// [`Self::decided_until`].
    pub fn offer(&mut self, arrival: Nanos, packet: impl Into<Packet>) -> Verdict {
        let mut packet = self.super_packets.numbered(packet.into());
        let mut marked = false;
        let index = self.next_index;
        self.next_index += 1;
        let mut verdict = Verdict {
            index,
            fate: Fate::Dropped(DropReason::QueueFull),
            found: Occupancy::default(),
            service: Nanos::ZERO,
        };
        let at_queue = match &mut self.edge {
            None => arrival,
            Some(edge) => match edge.pass(arrival, packet.size).departure {
                None => return verdict,
                Some(departure) => departure,
            },
        };
        if packet.unmapped {
            verdict.fate = Fate::Dropped(DropReason::Unmapped);
            return verdict;
        }
        if let Some(reason) = self.police.judge(at_queue, &packet) {
            verdict.fate = Fate::Dropped(reason);
            return verdict;
        }
        let struck = self.oversize.strike(at_queue, index).flatten();
        if let Some(oversize) = struck.filter(|it| it.concerns(at_queue, &packet)) {
            verdict.fate = Fate::Dropped(oversize.reason());
            return verdict;
        }
        if self.loss_at == LossAt::Entry {
            if let Some(kind) = self.loss.judge(at_queue, index, &packet) {
                if !self.marks(kind, &packet) {
                    verdict.fate = Fate::Dropped(kind.reason(LossAt::Entry));
                    return verdict;
                }
                marked = packet.ecn != Ecn::Ce;
                packet.ecn = Ecn::Ce;
            }
        }
        match &mut self.bottleneck {
            Middle::Managed(queue) => {
                if marked {
                    self.marked.insert(index);
                }
                queue.offer(at_queue, index, packet);
                verdict.fate = Fate::Waiting;
            }
            Middle::Droptail(bottleneck) => {
                let passage = bottleneck.pass(at_queue, packet.size);
                verdict.found = passage.found;
                verdict.service = passage.service;
                if let Some(departure) = passage.departure {
                    verdict.fate = self.after_queue(departure, marked, index, &packet);
                }
            }
        }
        verdict
    }

    /// The verdict on a packet that was [`Fate::Waiting`] and whose turn came up to `now`; `None` when there is none
    /// left. No packet may arrive before `now` after this.
    pub fn decide(&mut self, now: Nanos) -> Option<Verdict> {
        let Middle::Managed(queue) = &mut self.bottleneck else {
            return None;
        };
        let decision = queue.decide(now)?;
        let marked = self.marked.remove(&decision.index);
        Some(Verdict {
            index: decision.index,
            fate: match decision.outcome {
                Ok(departure) => self.after_queue(
                    departure.at,
                    departure.marked || marked,
                    decision.index,
                    &decision.packet,
                ),
                Err(reason) => Fate::Dropped(reason),
            },
            found: decision.found,
            service: decision.service,
        })
    }

    /// The earliest instant at which [`Self::decide`] may have something to tell, if no packet arrives before.
    #[must_use]
    pub fn next_decision(&self) -> Option<Nanos> {
        match &self.bottleneck {
            Middle::Droptail(_) => None,
            Middle::Managed(queue) => queue.next(),
        }
    }

    /// Up to when the order of things in a managed queue stands; t = 0 without one.
    #[must_use]
    pub fn decided_until(&self) -> Nanos {
        match &self.bottleneck {
            Middle::Droptail(_) => Nanos::ZERO,
            Middle::Managed(queue) => queue.now(),
        }
    }

    /// The stage of loss, which knows what became of the packets that are addressed.
    #[must_use]
    pub fn loss(&self) -> &LossStage {
        &self.loss
    }

    /// True if a packet that would be lost is marked in the place of that.
    fn marks(&self, kind: LossKind, packet: &Packet) -> bool {
        self.loss_marks && kind == LossKind::Random && packet.ecn.is_capable()
    }

    fn after_queue(
        &mut self,
        departure: Nanos,
        mut marked: bool,
        index: u32,
        packet: &Packet,
    ) -> Fate {
        if departure == Nanos::NEVER {
            return Fate::Delivered(Delivery {
                due: departure,
                marked,
                reordered: false,
                corrupt: None,
                copy: None,
            });
        }
        if self.loss_at == LossAt::Exit {
            if let Some(kind) = self.loss.judge(departure, index, packet) {
                if !self.marks(kind, packet) {
                    return Fate::Dropped(kind.reason(LossAt::Exit));
                }
                marked |= packet.ecn != Ecn::Ce;
            }
        }
        let shared = packet.super_packet.filter(|_| self.by_super_packet);
        let draw = shared.unwrap_or(index);
        let due = self.delay.pass(departure, draw);
        let held_back = self.reorder.strike(departure, draw).flatten();
        let copied = self.duplicate.strike(departure, draw).is_some();
        Fate::Delivered(Delivery {
            due: held_back.map_or(due, |reorder| due + reorder.extra_delay),
            marked,
            reordered: held_back.is_some(),
            corrupt: self.corrupt.strike(departure, index),
            copy: copied.then(|| Copied {
                corrupt: self.corrupt_copy.strike(departure, index),
            }),
        })
    }
}

impl Middle {
    fn new(config: &DirectionConfig, key: &StreamKey) -> Self {
        let (service, bounds) = (config.service.clone(), config.queue.clone());
        let transmitter =
            Transmitter::new(service, config.overhead, key).with_slots(&config.slot, key);
        if config.aqm.values().all(Option::is_none) {
            return Self::Droptail(Box::new(Bottleneck::before(transmitter, bounds)));
        }
        let queue = ManagedQueue::new(&config.aqm, bounds, transmitter, key);
        Self::Managed(Box::new(queue))
    }
}
