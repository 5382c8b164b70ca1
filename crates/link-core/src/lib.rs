// SPDX-License-Identifier: Apache-2.0
//! The elements of an emulated link, without I/O and without a clock.
//!
//! Time is virtual: the caller tells a [`Direction`] when each packet arrives, and learns at once what becomes of it
//! and when it is due; where the queue is managed, [`Direction::decide`] tells that when the packet's turn has
//! come. Instants count from the model's t = 0, the arrival of a trial's first packet.
//!
//! An effect is a module; a new one is a module of `direction`, which lists the stages. Randomness is a function of (seed, link, direction, effect, packet number), so adding one
//! effect changes no other's draws; losses may count packets by their class or by bytes instead (`loss/key.rs`).
//! Decisions are made at logical times: when the link is late, a packet leaves late, but what happens to it stays the
//! same.

mod aqm;
mod bottleneck;
mod chance_stage;
mod delay;
mod direction;
mod distribution;
mod loss;
mod packet;
mod queue;
mod random;
mod random_rate;
mod rate;
mod recorded;
mod sawtooth;
mod shaper;
mod slot;
mod timeline;
mod trace;
mod transmitter;
mod units;
mod verdict;

pub use aqm::{Aqm, CoDel, DualPi2, Fair, Pie, Rule};
pub use bottleneck::{Bottleneck, Passage};
pub use delay::{DelayStage, Jitter, Order};
pub use direction::*;
pub use distribution::Distribution;
pub use loss::{
    Address, AddressKind, Answer, GilbertElliott, GilbertElliottTime, Loss, LossKey, LossKind,
    LossRules, LossStage,
};
pub use packet::{Content, Ecn, Packet, Protocol};
pub use queue::{Occupancy, QueueBound};
pub use random::{unit_interval, Chance, Stream, StreamKey};
pub use random_rate::{RandomRate, RandomRates};
pub use rate::{RateClock, Rates};
pub use recorded::{parse_delays, parse_packet_losses, parse_timed_losses, MOST_LINES};
pub use shaper::Bucket;
pub use slot::Slot;
pub use timeline::Timeline;
pub use trace::{Trace, TraceClock};
pub use transmitter::Service;
pub use units::{BitRate, Bytes, Nanos};
pub use verdict::{Copied, Delivery, DropReason, Fate, Verdict};
