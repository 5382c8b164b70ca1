# SPDX-License-Identifier: Apache-2.0
"""Numbers of a trial that differ between two arms where a mechanism itself does, whatever else lengthens its time."""

from __future__ import annotations

from statistics import median

from quiclab.model.cause import Why
from quiclab.model.tables.drop_reasons import DropKind, reasons_of
from quiclab.why.mechanisms._api import Fact
from quiclab.why.mechanisms._flights import begin_of_body, flights
from quiclab.why.mechanisms._receiver import announced_ack_delay_ms
from quiclab.why.mechanisms._trial import OF_THE_PATH, Trial
from quiclab.why.mechanisms._window_course import reductions

TRIAL = "trial"
"""Name in place of a mechanism's in `mechanism_facts`: a number of the whole trial."""

LOST_ON_THE_PATH, SENT, ROUND_TRIP = "lost_on_the_path", "sent", "least_round_trip"
"""Names of numbers: packets of the body that the path lost, packets that the sender sent, and the least round trip of
the client's links in ms."""
WINDOW_LEFT = "window_left_by_a_reduction"
"""Name of the number of percent that a reduction after a loss leaves of the window, at most; of their median."""
SENT_BY = "sent_by_"
"""Begin of the name of a number that says by its name what sent the bodies."""


def _sender(trial: Trial) -> str:
    """The sender as far as its timers and its window depend on it: TCP or a program's QUIC, and the congestion control
    that the spec asks of it."""
    record = trial.evidence.trial
    if not trial.evidence.quic:
        return f"tcp_{record.tcp_congestion_control_asked or 'default'}"
    return f"quic_{record.sender_program or 'unknown'}_{record.asked.congestion_control or 'default'}"


def measures(trial: Trial) -> tuple[Fact, ...]:
    """The numbers that a trial shows, those that it does not show left out."""
    round_trip = (Fact(ROUND_TRIP, trial.round_trip_ns / 1e6, "ms"),) if trial.round_trip_ns else ()
    sent = Fact(SENT, len(trial.own), "packets")
    by = Fact(f"{SENT_BY}{_sender(trial)}", 1, "")
    return (
        *_drops(trial),
        sent,
        *round_trip,
        *_acknowledging(trial),
        by,
        *_window_left(trial),
        *flights(trial),
    )


def _window_left(trial: Trial) -> tuple[Fact, ...]:
    found = [each for each in reductions(trial, trial.why(Why.WINDOW_AFTER_LOSS)) if not each.to_least]
    return (Fact(WINDOW_LEFT, 100 * median(each.left.most for each in found), "%"),) if found else ()


def _acknowledging(trial: Trial) -> tuple[Fact, ...]:
    """Policy of the receiver: packets of the body that came for each that it sent meanwhile, and the longest delay that
    it announces."""
    evidence, begin_ns = trial.evidence, begin_of_body(trial)
    announced = announced_ack_delay_ms(trial)
    told = () if announced is None else (Fact("announced_ack_delay", announced, "ms"),)
    if begin_ns is None:
        return told
    ways = (evidence.packets(evidence.receiver, way) for way in (trial.way, trial.back))
    came, answers = (each.filter(each["time_ns"] >= begin_ns).height for each in ways)
    return (*told, Fact("packets_per_acknowledgment", came / answers, "")) if came and answers else told


def _drops(trial: Trial) -> tuple[Fact, ...]:
    """Packets that links dropped, by what took them; none of a trial without a log of its links."""
    if trial.ahead.is_empty():
        return ()
    drops = trial.drops(trial.way)
    of_body = drops.filter(drops["arrival_ns"] >= (begin_of_body(trial) or 0))

    def dropped_by(*kinds: DropKind) -> int:
        return int(of_body["reason"].is_in(reasons_of(*kinds)).sum())

    of_size = reasons_of(DropKind.SIZE)  # of the handshake too, and of either direction: large datagrams come first
    for_their_size = sum(int(each["reason"].is_in(of_size).sum()) for each in (drops, trial.drops(trial.back)))
    return (
        Fact("lost", drops.height, "packets"),
        Fact(LOST_ON_THE_PATH, dropped_by(*OF_THE_PATH), "packets"),
        Fact("dropped_by_queues", dropped_by(DropKind.QUEUE, DropKind.AQM), "packets"),
        Fact("dropped_by_policers", dropped_by(DropKind.POLICER), "packets"),
        Fact("dropped_for_their_size", for_their_size, "packets"),
    )
