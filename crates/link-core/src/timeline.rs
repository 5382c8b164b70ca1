// SPDX-License-Identifier: Apache-2.0
//! A setting that changes at given instants, once or in every period.

use crate::units::Nanos;

/// A value for every instant from t = 0 on: constant between changes.
///
/// Each element of a link keeps the timeline of its own settings and asks for the instant at which a packet reaches
/// that element, so a schedule needs no events. Spans of a timeline that repeats itself are numbered on over all
/// periods.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline<T> {
    spans: Vec<(Nanos, T)>,
    cursor: usize,
    period: Option<Nanos>,
}

impl<T> Timeline<T> {
    /// One value for ever.
    pub fn constant(value: T) -> Self {
        Self {
            spans: vec![(Nanos::ZERO, value)],
            cursor: 0,
            period: None,
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

    /// Repeats the course in every period, from the first value on. All changes must be before its end.
    #[must_use]
    pub fn repeated(mut self, period: Nanos) -> Self {
        debug_assert!(
            self.spans.last().is_none_or(|(last, _)| *last < period),
            "changes are before the end of the period"
        );
        self.period = Some(period);
        self
    }

    /// The value in force at `t`. The instants asked for never go back.
    pub fn at(&mut self, t: Nanos) -> &T {
        self.cursor = self.span_at(self.cursor, t);
        self.value_of(self.cursor)
    }

    /// The value in force at `t`, with the number of its span and the instant from which on it is.
    pub(crate) fn entered_at(&mut self, t: Nanos) -> (usize, Nanos, &T) {
        self.cursor = self.span_at(self.cursor, t);
        let since = self.start_of(self.cursor).unwrap_or(Nanos::NEVER);
        (self.cursor, since, self.value_of(self.cursor))
    }

    /// The instant of the last change within a period.
    #[must_use]
    pub fn last_change(&self) -> Nanos {
        self.spans.last().map_or(Nanos::ZERO, |(at, _)| *at)
    }

    /// Turns every value into another one.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Timeline<U> {
        Timeline {
            spans: self
                .spans
                .iter()
                .map(|(at, value)| (*at, f(value)))
                .collect(),
            cursor: 0,
            period: self.period,
        }
    }

    /// Adds a change to a timeline that is in use: it is in force from `at` on until the next one that was known before.
    /// One that repeats itself has no place for it.
    pub(crate) fn insert(&mut self, at: Nanos, value: T) {
        debug_assert!(self.period.is_none(), "a repeated course does not change");
        let place = self.spans.partition_point(|(start, _)| *start <= at);
        self.spans.insert(place, (at, value));
        self.cursor = 0; // the next look finds its span again
    }

    /// The value in force at `t`, which may be any instant.
    pub(crate) fn in_force(&self, t: Nanos) -> &T {
        self.value_of(self.span_at(0, t))
    }

    /// All values, in order of time; of one that repeats itself those of a period.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.spans.iter().map(|(_, value)| value)
    }

    /// All values with the instants from which on they are in force, to be taken as time passes.
    pub(crate) fn changes(&self) -> Changes<T>
    where
        T: Clone,
    {
        Changes {
            values: self.clone(),
            next: 0,
            asked: Nanos::ZERO,
        }
    }

    /// The number of the span that holds `t`, looking from span `from` on.
    pub(crate) fn span_at(&self, mut from: usize, t: Nanos) -> usize {
        if let Some(period) = self.period {
            let within = Nanos(t.0 % period.0);
            let span = self.spans.partition_point(|(at, _)| *at <= within) - 1;
            let lap = usize::try_from(t.0 / period.0).unwrap_or(usize::MAX);
            return from.max(lap.saturating_mul(self.spans.len()).saturating_add(span));
        }
        while self.end_of(from).is_some_and(|end| end <= t) {
            from += 1;
        }
        from
    }

    /// The value of a span.
    pub(crate) fn value_of(&self, span: usize) -> &T {
        &self.spans[span % self.spans.len()].1
    }

    /// The instant at which a span ends; `None` for the last.
    pub(crate) fn end_of(&self, span: usize) -> Option<Nanos> {
        self.start_of(span + 1)
    }

    /// The instant at which a span begins; `None` if there is no such span.
    fn start_of(&self, span: usize) -> Option<Nanos> {
        let Some(period) = self.period else {
            return self.spans.get(span).map(|(at, _)| *at);
        };
        let lap = (span / self.spans.len()) as u64;
        Some(Nanos(period.0.saturating_mul(lap)) + self.spans[span % self.spans.len()].0)
    }
}

/// The changes of a timeline that have not been taken yet, in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Changes<T> {
    values: Timeline<T>,
    next: usize,
    /// The latest instant that was asked for.
    asked: Nanos,
}

impl<T: Clone> Changes<T> {
    /// Takes the next change that is in force at `t`, if there is one. The instants asked for never go back.
    pub(crate) fn take(&mut self, t: Nanos) -> Option<(Nanos, T)> {
        self.asked = t;
        let at = self.values.start_of(self.next).filter(|&at| at <= t)?;
        let value = self.values.value_of(self.next).clone();
        self.next += 1;
        Some((at, value))
    }

    /// Adds a change at `at`, or at the latest instant that was asked for if that is later: what was done by then stays.
    /// One that another change has followed by now comes too late.
    pub(crate) fn insert(&mut self, at: Nanos, value: T) {
        let taken = self
            .next
            .checked_sub(1)
            .and_then(|last| self.values.start_of(last));
        if taken.is_none_or(|taken| taken <= at) {
            self.values.insert(at.max(self.asked), value);
        }
    }
}
