// SPDX-License-Identifier: Apache-2.0
//! A setting that changes at given instants.

use std::collections::VecDeque;

use crate::units::Nanos;

/// A value for every instant from t = 0 on: constant between changes.
///
/// Each element of a link keeps the timeline of its own settings and asks for the instant at which a packet reaches
/// that element, so a schedule needs no events.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline<T> {
    spans: Vec<(Nanos, T)>,
    cursor: usize,
}

impl<T> Timeline<T> {
    /// One value for ever.
    pub fn constant(value: T) -> Self {
        Self {
            spans: vec![(Nanos::ZERO, value)],
            cursor: 0,
        }
    }

    /// Adds a change. Changes are added in order of time; of two at one instant the later added wins.
    #[must_use]
    pub fn then(mut self, at: Nanos, value: T) -> Self {
        debug_assert!(
            self.spans.last().is_none_or(|(last, _)| *last <= at),
            "changes are in order of time"
        );
        self.spans.push((at, value));
        self
    }

    /// The value in force at `t`. The instants asked for never go back.
    pub fn at(&mut self, t: Nanos) -> &mut T {
        self.cursor = self.span_at(self.cursor, t);
        &mut self.spans[self.cursor].1
    }

    /// Turns every value into another one; `f` also gets the instant of the change.
    pub fn map<U>(&self, mut f: impl FnMut(Nanos, &T) -> U) -> Timeline<U> {
        Timeline {
            spans: self
                .spans
                .iter()
                .map(|(at, value)| (*at, f(*at, value)))
                .collect(),
            cursor: 0,
        }
    }

    /// Adds a change to a timeline that is in use: it is in force from `at` on until the next one that was known before.
    pub(crate) fn insert(&mut self, at: Nanos, value: T) {
        let place = self.spans.partition_point(|(start, _)| *start <= at);
        self.spans.insert(place, (at, value));
        self.cursor = 0; // the next look finds its span again
    }

    /// The value in force at `t`, which may be any instant.
    pub(crate) fn in_force(&self, t: Nanos) -> &T {
        &self.spans[self.span_at(0, t)].1
    }

    /// All values, in order of time.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.spans.iter().map(|(_, value)| value)
    }

    /// All values with the instants from which on they are in force, to be taken as time passes.
    pub(crate) fn changes(&self) -> Changes<T>
    where
        T: Clone,
    {
        Changes {
            coming: self.spans.iter().cloned().collect(),
            taken: Nanos::ZERO,
            asked: Nanos::ZERO,
        }
    }

    /// The number of the span that holds `t`, looking from span `from` on.
    pub(crate) fn span_at(&self, mut from: usize, t: Nanos) -> usize {
        while self.end_of(from).is_some_and(|end| end <= t) {
            from += 1;
        }
        from
    }

    /// The value of a span.
    pub(crate) fn value_of(&self, span: usize) -> &T {
        &self.spans[span].1
    }

    /// The instant at which a span ends; `None` for the last.
    pub(crate) fn end_of(&self, span: usize) -> Option<Nanos> {
        self.spans.get(span + 1).map(|(at, _)| *at)
    }
}

/// The changes of a timeline that have not been taken yet, in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Changes<T> {
    coming: VecDeque<(Nanos, T)>,
    /// The instant of the last change that was taken.
    taken: Nanos,
    /// The latest instant that was asked for.
    asked: Nanos,
}

impl<T> Changes<T> {
    /// Takes the next change that is in force at `t`, if there is one. The instants asked for never go back.
    pub(crate) fn take(&mut self, t: Nanos) -> Option<(Nanos, T)> {
        self.asked = t;
        if self.coming.front().is_none_or(|(at, _)| *at > t) {
            return None;
        }
        let (at, value) = self.coming.pop_front()?;
        self.taken = at;
        Some((at, value))
    }

    /// Adds a change at `at`, or at the latest instant that was asked for if that is later: what was done by then stays.
    /// One that another change has followed by now comes too late.
    pub(crate) fn insert(&mut self, at: Nanos, value: T) {
        if self.taken > at {
            return;
        }
        let at = at.max(self.asked);
        let place = self.coming.partition_point(|(start, _)| *start <= at);
        self.coming.insert(place, (at, value));
    }
}
