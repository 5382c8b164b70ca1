// SPDX-License-Identifier: Apache-2.0
//! Rows that acknowledgments make: `acks`, `flow_control`, and estimates of what the sender knows.

use super::segment::{Segment, FIN, RST, SYN};
use super::sent_again::{Owner, Retransmission};
use super::timers::Expired;
use super::way::Way;
use crate::tables::{Ack, FlowControl, Tables, Timer, TransportMetric};
use crate::{Direction, End, Severity};

/// Values that the rows of one segment have in common.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) vantage: Option<End>,
    pub(super) connection: &'a str,
    pub(super) direction: Direction,
    pub(super) time_ns: i64,
}

impl<'a> Rows<'a> {
    pub(super) fn event(&self) -> &'static str {
        match self.vantage {
            Some(end) if end == self.direction.sender() => "sent",
            Some(_) => "received",
            None => "seen",
        }
    }

    pub(super) fn owner(&self, direction: Direction) -> Owner<'a> {
        Owner {
            vantage: self.vantage.map(End::as_str),
            connection: self.connection,
            direction: direction.as_str(),
        }
    }

    /// A segment acknowledges what flows `back`.
    pub(super) fn acknowledgment(
        &self,
        segment: &Segment<'_>,
        number: u64,
        ack: u64,
        way: &Way,
        back: &mut Way,
        tables: &mut Tables,
    ) {
        let advances = ack > back.acknowledged;
        let blocks = segment.options.sack();
        let pure = segment.length == 0 && segment.flags & (SYN | FIN | RST) == 0;
        // What data carries along says nothing new until it advances.
        if let Some(last) = ack.checked_sub(1).filter(|_| advances || pure) {
            self.ack(number, "cumulative", 0, last, tables);
        }
        if !advances && pure && ack < back.next {
            back.outstanding.duplicate_ack(self.time_ns);
        }
        let at_sender = self.vantage == Some(self.direction.reverse().sender());
        if at_sender && (advances || !blocks.is_empty()) {
            // What was in flight before this acknowledgment.
            self.tell_flight(back, tables);
        }
        let (mut news, mut sample) = (false, false);
        let mut second = None;
        for (index, &(left, right)) in blocks.iter().enumerate().rev() {
            let (start, end) = (back.place(left, false), back.place(right, false));
            if start >= end {
                continue;
            }
            // RFC 2883 section 4: the first block, below the acknowledgment or within the second block.
            let inside = |(low, high): (u64, u64)| start >= low && end <= high;
            let duplicate = index == 0 && (end <= ack || second.is_some_and(inside));
            second = Some((start, end));
            if duplicate {
                self.ack(number, "dsack", start, end - 1, tables);
                back.again.duplicate(start, end, self.time_ns);
            } else {
                self.ack(number, "sack", start, end - 1, tables);
                let told = back.outstanding.sack(start, end, self.time_ns);
                (news, sample) = (news | told.0, sample | told.1);
            }
        }
        if self.is_at_sender() {
            back.again.confirm(ack, self.time_ns);
        }
        if advances || news {
            self.progress(segment, ack, sample, way, back, tables);
        }
        self.window(segment, ack, way, back, tables);
    }

    fn ack(&self, number: u64, kind: &'static str, first: u64, last: u64, tables: &mut Tables) {
        tables.acks.push(Ack {
            vantage: self.vantage.map(End::as_str),
            connection: Some(self.connection),
            time_ns: self.time_ns,
            transport: "tcp",
            event: self.event(),
            direction: Some(self.direction.as_str()),
            packet_number: Some(number),
            kind,
            first,
            last,
            ..Ack::default()
        });
    }

    /// Something has arrived that was not known to have.
    fn progress(
        &self,
        segment: &Segment<'_>,
        ack: u64,
        sample: bool,
        way: &Way,
        back: &mut Way,
        tables: &mut Tables,
    ) {
        back.acknowledged = back.acknowledged.max(ack);
        let sample = back.outstanding.acknowledge(ack, self.time_ns) || sample;
        back.again.acknowledge(
            ack,
            segment.options.timestamps.map(|(_, echo)| echo),
            way.sack_permitted && back.sack_permitted,
            self.time_ns,
            self.owner(self.direction.reverse()),
            tables,
        );
        if self.vantage != Some(self.direction.reverse().sender()) {
            return;
        }
        let peak = back.peak_in_flight(ack);
        let rtt = back.outstanding.rtt.filter(|_| sample);
        tables.transport_metrics.push(TransportMetric {
            cwnd_bytes: (peak > 1).then_some(peak),
            bytes_in_flight: Some(back.outstanding.in_flight(back.next)),
            latest_rtt_ms: rtt.map(|rtt| ms(rtt.latest_ns)),
            smoothed_rtt_ms: rtt.map(|rtt| ms(rtt.smoothed_ns)),
            rtt_variance_ms: rtt.map(|rtt| ms(rtt.variance_ns)),
            min_rtt_ms: rtt.map(|rtt| ms(rtt.min_ns)),
            ..self.metric(self.time_ns)
        });
    }

    fn metric(&self, time_ns: i64) -> TransportMetric<'a> {
        TransportMetric {
            vantage: self.vantage.map(End::as_str),
            connection: Some(self.connection),
            time_ns,
            transport: "tcp",
            estimate: true,
            ..TransportMetric::default()
        }
    }

    /// The receive window (RFC 9293 section 3.8.6, RFC 7323 section 2).
    fn window(
        &self,
        segment: &Segment<'_>,
        ack: u64,
        way: &Way,
        back: &mut Way,
        tables: &mut Tables,
    ) {
        if segment.has(RST) {
            return;
        }
        // A SYN's window is never scaled, and none is unless both ends offered it.
        let scale = match (way.window_scale, back.window_scale) {
            (Some(scale), Some(_)) if !segment.has(SYN) => scale,
            _ => 0,
        };
        let window = u64::from(segment.window) << scale;
        let limit = ack.saturating_add(window);
        // An older segment does not take back what a newer one has granted.
        if back.limit == Some(limit) && back.window == window || ack < back.acknowledged {
            return;
        }
        back.window = window;
        back.limit = Some(limit);
        self.limit(self.direction.reverse(), "limit", back, tables);
        if back.blocked && limit >= back.next + back.largest {
            back.blocked = false;
            self.limit(self.direction.reverse(), "unblocked", back, tables);
        }
    }

    fn limit(&self, limited: Direction, event: &'static str, way: &Way, tables: &mut Tables) {
        tables.flow_control.push(FlowControl {
            vantage: self.vantage.map(End::as_str),
            connection: Some(self.connection),
            time_ns: self.time_ns,
            transport: "tcp",
            event,
            direction: Some(limited.as_str()),
            scope: "receive_window",
            limit: way.limit,
            window_bytes: Some(way.window),
            ..FlowControl::default()
        });
    }

    /// Bytes were sent: what they change stands in a row before the next acknowledgment.
    pub(super) fn sent(&self, way: &mut Way, tables: &mut Tables) {
        // The SYN alone is no flight.
        if !self.is_at_sender() || way.next <= 1 {
            return;
        }
        way.untold_ns = Some(self.time_ns);
        // Not even one more segment fits.
        let full = (way.limit).is_some_and(|limit| limit < way.next.saturating_add(way.largest));
        if full && !way.blocked {
            way.blocked = true;
            self.limit(self.direction, "blocked", way, tables);
        }
    }

    /// The row of what was in flight after the last sending.
    pub(super) fn tell_flight(&self, way: &mut Way, tables: &mut Tables) {
        let Some(time_ns) = way.untold_ns.take() else {
            return;
        };
        let peak = way.peak_in_flight(0);
        tables.transport_metrics.push(TransportMetric {
            cwnd_bytes: Some(peak),
            bytes_in_flight: Some(way.outstanding.in_flight(way.next)),
            ..self.metric(time_ns)
        });
    }

    /// The bytes of a segment, or part of them, were sent before.
    pub(super) fn sent_again(
        &self,
        segment: &Segment<'_>,
        (start, end): (u64, u64),
        sack: bool,
        way: &mut Way,
        tables: &mut Tables,
    ) {
        let sent = way
            .outstanding
            .sent_again(start, way.next, segment.time_ns, sack);
        let at_sender = self.is_at_sender();
        let at_receiver = self.vantage.is_some() && !at_sender;
        let again = Retransmission {
            time_ns: segment.time_ns,
            start,
            end,
            length: segment.length.into(),
            sent_ns: sent.sent_ns.filter(|_| !at_receiver),
            rule: sent.rule.filter(|_| !at_receiver),
            timestamp: segment.options.timestamps.map(|(own, _)| own),
            // Where both copies arrived, one was needless.
            spurious: at_receiver.then_some(true),
            acknowledged_ns: None,
            reported: false,
        };
        way.again.push(again, self.owner(self.direction), tables);
        if at_sender && sent.rule.is_none() {
            tables.count(
                "retransmission_unexplained",
                Severity::Notice,
                "segments sent again without a word from the receiver, too soon for a timer: losses.rule is null",
            );
        }
        self.expired(sent.expired, tables);
    }

    fn is_at_sender(&self) -> bool {
        self.vantage == Some(self.direction.sender())
    }

    /// A retransmission timer may have expired: when it was set, and that it did.
    pub(super) fn expired(&self, expired: Option<Expired>, tables: &mut Tables) {
        let Some(expired) = expired.filter(|_| self.is_at_sender()) else {
            return;
        };
        let ran_ns = self.time_ns.saturating_sub(expired.set_ns);
        for (event, time_ns, delta_ms) in [
            ("set", expired.set_ns, Some(ms(ran_ns))),
            ("expired", self.time_ns, None),
        ] {
            tables.timers.push(Timer {
                vantage: self.vantage.map(End::as_str),
                connection: Some(self.connection),
                time_ns,
                transport: "tcp",
                timer: expired.timer,
                event,
                delta_ms,
                estimate: true,
                ..Timer::default()
            });
        }
        if let Some(in_a_row) = expired.in_a_row {
            tables.transport_metrics.push(TransportMetric {
                pto_count: Some(in_a_row),
                ..self.metric(self.time_ns)
            });
        }
    }
}

/// Exact below 2^53 ns, which are 104 days.
#[allow(clippy::cast_precision_loss, reason = "of no consequence")]
fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}
