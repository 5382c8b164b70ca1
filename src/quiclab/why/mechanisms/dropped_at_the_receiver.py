# SPDX-License-Identifier: Apache-2.0
"""Packets dropped at the receiver: they had crossed the path, and nobody there took them."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._receiver import receiver, taken
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    thrown = pl.Series([each is False for each in taken(trial)], dtype=pl.Boolean)
    edges = trial.why(Why.WINDOW_AFTER_LOSS, Why.LOSS_DETECTION, Why.LOSS_TIMER, Why.PROBE_TIMER) & thrown
    if not edges.any():
        return Claim(edges)
    return Claim(edges, (*_counted(trial), Fact("reductions", trial.events(edges), "")))


def _counted(trial: Trial) -> tuple[Fact, ...]:
    """Packets that came and were not read, and what kernel and program say of them: a program may drop a packet for
    which it has no keys yet without a word."""
    evidence = trial.evidence
    counters = evidence.trial.host.counters.get(evidence.receiver) or {}
    sockets = evidence.table("udp_drops").filter(pl.col("vantage") == evidence.receiver)["drops"].sum()
    refused = evidence.table("packets").filter(
        pl.col("vantage") == evidence.receiver, pl.col("event") == "dropped", pl.col("direction") == trial.way
    )
    known = receiver(trial)
    unread = len((known.captured or frozenset()) - (known.read or frozenset()))
    told = (
        Fact("came_and_were_not_read", unread, "packets"),
        Fact("dropped_by_the_socket", float(max(int(counters.get("UdpRcvbufErrors", 0)), int(sockets))), "packets"),
        Fact("refused_by_the_program", refused.height, "packets"),
    )
    return tuple(fact for fact in told if fact.value)


DROPPED_AT_THE_RECEIVER = Mechanism(
    "dropped_at_the_receiver",
    "congestion window after drops at the receiver",
    Family.WINDOW,
    "Packets had crossed the whole path. The receiver's UDP socket had no room for them, or its program refused them "
    "since a queue of its own was full, or since it had no keys for them yet. The sender took that for congestion.",
    "Waits after a loss whose packet is in the capture at the receiver, and not among those that its program read.",
    Level.E0,
    "RFC 4113 (UdpRcvbufErrors), RFC 9001 section 5.7; quic-go, qlog's `dos_prevention`; quinn issue 2262",
    _claim,
    (
        Rival("loss_on_the_path", "a link dropped the packet, so that it is not in the receiver's capture"),
        Rival("reordering_taken_for_loss", "the receiver's program read the packet, only late"),
    ),
    (
        Setting(
            "sender",
            "gso",
            value=False,
            gain="Smaller bursts leave the receiver time to read.",
            also_changes=("the sender needs more processor time per byte",),
        ),
        Setting(
            "sender",
            "pacing",
            value=True,
            gain="Smaller bursts leave the receiver time to read.",
            also_changes=("the beginning takes longer",),
        ),
    ),
    reasons=(Why.WINDOW_AFTER_LOSS, Why.LOSS_DETECTION, Why.LOSS_TIMER, Why.PROBE_TIMER),
    transports=frozenset({Transport.QUIC}),
)
