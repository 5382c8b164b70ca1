// SPDX-License-Identifier: Apache-2.0
//! Laws that hold for every configuration: tried on many random ones.

mod common;

use common::{chance, delivery, key};
use link_core::{
    unit_interval, Address, AddressKind, BitRate, Bytes, Direction, DirectionConfig, Distribution,
    GilbertElliott, GilbertElliottTime, Jitter, Loss, LossAt, LossKey, Nanos, Order, QueueBound,
    Reorder, Service, Stream, Timeline,
};

/// Draws a configuration.
struct Dice(Stream);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0.draw_next() % end
    }

    fn probability(&mut self) -> f64 {
        unit_interval(self.0.draw_next()) * 0.3
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| make(self))
    }

    fn over_time<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Timeline<T> {
        let mut timeline = Timeline::constant(make(self));
        let mut at = 0;
        for _ in 0..self.below(4) {
            at += self.below(200_000_000);
            timeline = timeline.then(Nanos(at), make(self));
        }
        timeline
    }

    fn loss(&mut self) -> Loss {
        match self.below(4) {
            0 => Loss::Bernoulli(chance(self.probability())),
            1 => Loss::List((0..1000).filter(|i| i % 17 == 0).collect()),
            2 => Loss::GilbertElliott(GilbertElliott {
                p: chance(self.probability()),
                r: chance(self.probability()),
                loss_good: chance(self.probability()),
                loss_bad: chance(self.probability()),
                bad_at_start: chance(self.probability()),
            }),
            _ => Loss::GilbertElliottTime(GilbertElliottTime {
                mean_good: Nanos(1 + self.below(100_000_000)),
                mean_bad: Nanos(1 + self.below(10_000_000)),
                loss_good: chance(self.probability()),
                loss_bad: chance(self.probability()),
            }),
        }
    }

    fn jitter(&mut self, reorder: bool) -> Jitter {
        let distributions = [
            Distribution::Uniform,
            Distribution::Normal,
            Distribution::Pareto,
            Distribution::ParetoNormal,
        ];
        let order = if reorder {
            Order::Reorder
        } else {
            Order::InOrder {
                half_life: Nanos(self.below(10_000_000)),
            }
        };
        let distribution = distributions[usize::try_from(self.below(4)).expect("small")];
        Jitter {
            distribution,
            scale: Nanos(self.below(20_000_000)),
            order,
        }
    }

    fn bound(&mut self) -> QueueBound {
        QueueBound {
            bytes: self.maybe(|dice| Bytes(1500 + dice.below(100_000))),
            packets: self.maybe(|dice| 1 + u32::try_from(dice.below(100)).expect("small")),
            time: self.maybe(|dice| Nanos(1_000_000 + dice.below(100_000_000))),
        }
    }

    fn address(&mut self) -> Address {
        let kinds = [AddressKind::Packet, AddressKind::Large, AddressKind::Byte];
        Address {
            kind: kinds[usize::try_from(self.below(3)).expect("small")],
            number: self.below(1000),
        }
    }

    fn config(&mut self, reorder: bool) -> DirectionConfig {
        DirectionConfig {
            edge_rate: self.maybe(|dice| BitRate(1_000_000 + dice.below(1_000_000_000))),
            service: Service::Rate(
                self.over_time(|dice| dice.maybe(|dice| BitRate(dice.below(50_000_000)))),
            ),
            overhead: Bytes(self.below(40)),
            queue: self.over_time(Self::bound),
            delay: self.over_time(|dice| Nanos(dice.below(50_000_000))),
            jitter: self.over_time(|dice| dice.maybe(|dice| dice.jitter(reorder))),
            loss: self.over_time(|dice| dice.maybe(Self::loss)),
            loss_by: [
                LossKey::Index,
                LossKey::Class,
                LossKey::Bytes,
                LossKey::SuperPacket,
            ][usize::try_from(self.below(4)).expect("small")],
            drop: vec![self.address(); usize::try_from(self.below(2)).expect("small")],
            spare: vec![self.address(); usize::try_from(self.below(2)).expect("small")],
            loss_at: if self.below(2) == 0 {
                LossAt::Entry
            } else {
                LossAt::Exit
            },
            reorder: Timeline::constant(if reorder {
                self.maybe(|dice| Reorder {
                    chance: chance(dice.probability()),
                    extra_delay: Nanos(dice.below(9_999_999)),
                })
            } else {
                None
            }),
            duplicate: self.over_time(|dice| chance(dice.probability())),
            corrupt: self.over_time(|dice| chance(dice.probability())),
            // Effects that only drop packets have tests of their own.
            ..DirectionConfig::default()
        }
    }
}

/// Every packet gets one verdict with the next number; none comes out before it went in; the queue never holds more
/// than the widest of its bounds; and nothing is turned around unless that was asked for.
#[test]
fn invariants_hold_for_random_configurations() {
    let mut dice = Dice(key(7).stream("dice"));
    for round in 0..400 {
        let reorder = round % 2 == 0;
        let config = dice.config(reorder);
        let widest = config
            .queue
            .values()
            .map(|bound| bound.packets.unwrap_or(u32::MAX))
            .max()
            .expect("one");
        let mut direction = Direction::new(&config, &key(round));
        let mut arrival = Nanos::ZERO;
        let mut last_due = Nanos::ZERO;
        let (mut delivered, mut lost) = (0, 0);
        for number in 0..1000 {
            arrival += Nanos(dice.below(2_000_000) * dice.below(2));
            let verdict = direction.offer(arrival, Bytes(20 + dice.below(1481)));
            assert_eq!(verdict.index, number);
            assert!(verdict.found.packets <= widest);
            let Some(delivery) = delivery(&verdict) else {
                lost += 1;
                continue;
            };
            delivered += 1;
            assert!(delivery.due >= arrival);
            assert!(
                reorder || delivery.due >= last_due,
                "round {round}: packet {number} overtook"
            );
            last_due = delivery.due;
        }
        assert_eq!(delivered + lost, 1000);
    }
}
