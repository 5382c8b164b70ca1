// SPDX-License-Identifier: Apache-2.0
//! Reason why each nanosecond passed, from the state of the sender itself: no packet is looked at
//! for it.
//!
//! The bottleneck has priority: while it serves, the time is its. Each other instant of the response belongs to what held
//! the sender back at that instant; where several conditions did, to the one that was the last to go. A condition that
//! a timer of losses or probes ended counts for that timer. Credit does not hold back what is sent again (RFC 9000
//! section 4), so that a wait for credit which the news of a loss ends is one for that news.

use crate::state::{Data, Held, Sent, Step, Tightened, Trigger};
use crate::way::{Logged, Way};

/// A stretch of time and its label, a value of `Why`.
pub type Stretch = (&'static str, u64, u64);

/// Instants that only the endpoints know.
#[derive(Clone, Debug)]
pub struct Marks {
    /// Ends of the stages of the handshake, with their labels.
    pub stages: Vec<(&'static str, u64)>,
    /// Index of the first packet of the response that was served.
    pub first: usize,
    /// Index of the packet that completes it.
    pub completing: usize,
}

/// Labels from the first packet to the arrival of the last. `clean` has the marks of the same set-up without losses,
/// and when the first packet of its response begins service: what the losses add there is known exactly.
pub fn stretches<P>(
    down: &Way<P>,
    steps: &[Step],
    marks: &Marks,
    clean: (&Marks, u64),
    timer: &'static str,
) -> Vec<Stretch> {
    let mut found = Vec::new();
    let (mut from, mut clean_from) = (0, 0);
    for ((label, until), (_, clean_until)) in marks.stages.iter().zip(&clean.0.stages) {
        let usual = (clean_until - clean_from).min(until - from);
        found.push((*label, from, from + usual));
        found.push(("set_up_loss", from + usual, *until));
        (from, clean_from) = (*until, *clean_until);
    }
    let begin = down.log[marks.first].begin_ns().expect("a served packet");
    let usual = (clean.1 - clean_from).min(begin - from);
    found.push(("request", from, from + usual));
    found.push((timer, from + usual, begin));
    response(&down.log, steps, marks, begin, &mut found);
    let last = &down.log[marks.completing];
    let left = last.left_ns.expect("a served packet");
    found.push(("last_flight", left, last.due_ns().expect("it arrived")));
    found.retain(|(_, from, until)| until > from);
    found
}

fn response(log: &[Logged], steps: &[Step], marks: &Marks, begin: u64, found: &mut Vec<Stretch>) {
    let last_left = log[marks.completing].left_ns.unwrap_or(begin);
    let mut served: Vec<(u64, u64)> = log
        .iter()
        .filter_map(|each| Some((each.begin_ns()?, each.left_ns?)))
        .filter(|&(from, until)| from >= begin && until <= last_left)
        .collect();
    served.sort_unstable();
    let mut free = begin;
    for (from, until) in served {
        if from > free {
            idle(steps, free, from, found);
        }
        found.push(("link_busy", from, until));
        free = until;
    }
}

/// Labels of an idle time that a sending at `until` ended. What was sent meanwhile and never reached the bottleneck
/// was let go by its conditions all the same.
fn idle(steps: &[Step], from: u64, until: u64, found: &mut Vec<Stretch>) {
    let end = steps.partition_point(|step| step.at_ns < until);
    let after = steps.partition_point(|step| step.at_ns <= from);
    let mut begin = after.max(1) - 1;
    let mut since = from;
    for at in after..=end {
        let Some(sending) = steps
            .get(at)
            .filter(|step| step.sent.is_some() || at == end)
        else {
            continue;
        };
        // Of several steps at one instant the one that sends data.
        let together = steps[at..]
            .iter()
            .take_while(|step| step.at_ns == sending.at_ns);
        let sending = together
            .clone()
            .find(|step| step.sent.is_some())
            .unwrap_or(sending);
        let stop = sending.at_ns.min(until);
        waits(
            &steps[begin..at.max(begin + 1)],
            sending,
            since,
            stop,
            found,
        );
        (begin, since) = (at, stop);
    }
}

/// Labels of a time without a sending, at whose end the sender sends.
fn waits(steps: &[Step], ended: &Step, from: u64, until: u64, found: &mut Vec<Stretch>) {
    for (at, step) in steps.iter().enumerate() {
        let start = step.at_ns.max(from);
        let stop = steps.get(at + 1).map_or(until, |next| next.at_ns.max(from));
        if stop > start {
            found.push((label(&steps[at..], ended), start, stop));
        }
    }
}

/// Number of steps for which a condition goes on.
fn run(steps: &[Step], holds: impl Fn(&Held) -> bool) -> usize {
    steps.iter().take_while(|step| holds(&step.held)).count()
}

/// Label of the first of these steps; at the end of the last the sender sends.
fn label(steps: &[Step], ended: &Step) -> &'static str {
    let held = steps[0].held;
    let window = run(steps, |held| held.window.is_some());
    let data = match held.data {
        Data::There => 0,
        lacking => run(steps, |held| held.data == lacking),
    };
    let to_the_end = window.max(data) == steps.len();
    match ended.trigger {
        Trigger::LossTimer if to_the_end => return "loss_timer",
        Trigger::ProbeTimer if to_the_end => return "probe_timer",
        _ => {}
    }
    if held.pacing {
        return "pacing";
    }
    let both = window > 0 && data > 0 && window == data;
    match (held.data, held.window) {
        (Data::StreamCredit | Data::ConnectionCredit, _)
            if data == steps.len() && ended.sent == Some(Sent::Again) =>
        {
            "loss_detection"
        }
        (Data::StreamCredit | Data::ConnectionCredit, Some(_)) if both => "contested",
        (Data::ReceiveWindow, Some(why)) if both => of_window(why),
        (lacking, _) if data > 0 && data >= window => of_data(lacking),
        (_, Some(why)) => of_window(why),
        _ => "unexplained",
    }
}

fn of_window(why: Tightened) -> &'static str {
    match why {
        Tightened::Never => "slow_start",
        Tightened::ByLoss => "window_after_loss",
        Tightened::ByExit => "window_after_exit",
    }
}

fn of_data(lacking: Data) -> &'static str {
    match lacking {
        Data::There => "unexplained",
        Data::AllSent => "loss_detection",
        Data::Application => "application",
        Data::SendBuffer => "send_buffer",
        Data::StreamCredit => "stream_credit",
        Data::ConnectionCredit => "connection_credit",
        Data::ReceiveWindow => "receive_window",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(at_ns: u64, trigger: Trigger, sent: Option<Sent>, window: bool, data: Data) -> Step {
        let window = window.then_some(Tightened::ByLoss);
        let held = Held {
            window,
            data,
            pacing: false,
        };
        Step {
            at_ns,
            trigger,
            sent,
            held,
        }
    }

    fn labels(steps: &[Step]) -> Vec<Stretch> {
        let mut found = Vec::new();
        idle(steps, 10, 100, &mut found);
        found
    }

    const NEW: Option<Sent> = Some(Sent::New);

    #[test]
    fn of_two_conditions_the_last_to_go_has_the_time() {
        let steps = [
            step(0, Trigger::Packet, NEW, true, Data::StreamCredit),
            step(40, Trigger::Packet, None, true, Data::There),
            step(100, Trigger::Packet, NEW, false, Data::There),
        ];
        let wanted = [
            ("window_after_loss", 10, 40),
            ("window_after_loss", 40, 100),
        ];
        assert_eq!(labels(&steps), wanted);
    }

    #[test]
    fn window_and_credit_that_one_packet_ends_are_contested_unless_it_tells_of_a_loss() {
        let ended = |sent| {
            let steps = [
                step(0, Trigger::Packet, NEW, true, Data::StreamCredit),
                step(100, Trigger::Packet, Some(sent), true, Data::StreamCredit),
            ];
            labels(&steps)[0].0
        };
        assert_eq!(ended(Sent::New), "contested");
        assert_eq!(ended(Sent::Again), "loss_detection");
    }

    #[test]
    fn what_never_reached_the_bottleneck_divides_a_wait() {
        let steps = [
            step(0, Trigger::Packet, NEW, false, Data::AllSent),
            step(40, Trigger::Packet, Some(Sent::Again), false, Data::AllSent),
            step(
                100,
                Trigger::LossTimer,
                Some(Sent::Again),
                false,
                Data::AllSent,
            ),
        ];
        let wanted = [("loss_detection", 10, 40), ("loss_timer", 40, 100)];
        assert_eq!(labels(&steps), wanted);
    }
}
