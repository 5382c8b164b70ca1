// SPDX-License-Identifier: Apache-2.0
//! Loss as it was recorded in time: a probability for each instant.

use std::sync::Arc;

use crate::random::{Chance, Stream, StreamKey};
use crate::timeline::Timeline;
use crate::units::Nanos;

#[derive(Clone, Debug)]
pub(super) struct State {
    chances: Arc<Timeline<Chance>>,
    since: Nanos,
    span: usize,
    draws: Stream,
}

impl State {
    /// The recording begins at `since`.
    pub(super) fn new(
        chances: Arc<Timeline<Chance>>,
        since: Nanos,
        key: &StreamKey,
        class: &str,
    ) -> Self {
        Self {
            chances,
            since,
            span: 0,
            draws: key.stream(&format!("loss{class}")),
        }
    }

    pub(super) fn loses(&mut self, t: Nanos, number: u64) -> bool {
        self.span = self.chances.span_at(self.span, t - self.since);
        self.chances
            .value_of(self.span)
            .hit(self.draws.draw(number))
    }
}
