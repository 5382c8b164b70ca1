// SPDX-License-Identifier: Apache-2.0
//! Change of a direction that runs already: what a schedule would have done, had it known of it.

use super::{Direction, DirectionConfig, Middle};
use crate::timeline::Timeline;
use crate::transmitter::Transmitter;
use crate::units::Nanos;

impl Direction {
    /// Takes the settings of `after` from `at` on, which has one change at `at` more than `before`, the present
    /// configuration. What has been decided stays: a packet that is in a droptail queue, or behind it, keeps its due
    /// time. All streams go on, so no other effect draws differently.
    ///
    /// The kind of service (rate, bucket, random rate, trace), and with it a queue's being managed at all, cannot change.
    pub fn change(&mut self, at: Nanos, before: &DirectionConfig, after: &DirectionConfig) {
        // Without `..`, so that the compiler names an effect that is forgotten here.
        let DirectionConfig {
            edge_rate: _,
            block,
            police,
            oversize,
            service,
            overhead: _,
            slot,
            queue,
            aqm,
            delay,
            jitter,
            loss,
            loss_by: _,
            drop: _,
            spare: _,
            loss_at: _,
            loss_marks: _,
            duplicate_repeat: _,
            corrupt_repeat: _,
            reorder,
            duplicate,
            corrupt,
        } = after;
        if let Some(block) = news(&before.block, block, at) {
            self.police.set_block(at, block);
        }
        if let Some(police) = news(&before.police, police, at) {
            self.police.set_police(at, police);
        }
        if let Some(oversize) = news(&before.oversize, oversize, at) {
            self.oversize.set(at, oversize);
        }
        if let Some(loss) = news(&before.loss, loss, at) {
            self.loss.set(at, loss);
        }
        if let (Some(before), Some(after)) = (before.service.rates(), service.rates()) {
            if let Some(rate) = news(before, after, at) {
                self.bottleneck.transmitter().set_rate(at, rate);
            }
        }
        if let Some(slot) = news(&before.slot, slot, at) {
            self.bottleneck.transmitter().set_slot(at, slot);
        }
        if let Some(queue) = news(&before.queue, queue, at) {
            match &mut self.bottleneck {
                Middle::Droptail(bottleneck) => bottleneck.set_bounds(at, queue),
                Middle::Managed(managed) => managed.set_bounds(at, queue),
            }
        }
        if let (Some(aqm), Middle::Managed(managed)) =
            (news(&before.aqm, aqm, at), &mut self.bottleneck)
        {
            managed.set_rule(at, aqm);
        }
        if let Some(delay) = news(&before.delay, delay, at) {
            self.delay.set_delay(at, delay);
        }
        if let Some(jitter) = news(&before.jitter, jitter, at) {
            self.delay.set_jitter(at, jitter);
        }
        if let Some(reorder) = news(&before.reorder, reorder, at) {
            self.reorder.set(at, reorder);
        }
        if let Some(duplicate) = news(&before.duplicate, duplicate, at) {
            self.duplicate.set(at, duplicate);
        }
        if let Some(corrupt) = news(&before.corrupt, corrupt, at) {
            self.corrupt.set(at, corrupt);
            self.corrupt_copy.set(at, corrupt);
        }
    }

    /// True if a change may bring management to the queue.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        matches!(self.bottleneck, Middle::Managed(_))
    }
}

impl Middle {
    fn transmitter(&mut self) -> &mut Transmitter {
        match self {
            Self::Droptail(bottleneck) => bottleneck.transmitter(),
            Self::Managed(queue) => queue.transmitter(),
        }
    }
}

/// The value that is in force at `at` after a change, if it is another one than before.
fn news<T: Clone + PartialEq>(before: &Timeline<T>, after: &Timeline<T>, at: Nanos) -> Option<T> {
    let [before, after] = [before, after].map(|timeline| timeline.in_force(at));
    (before != after).then(|| after.clone())
}
