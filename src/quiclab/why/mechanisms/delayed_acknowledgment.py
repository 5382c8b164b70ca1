# SPDX-License-Identifier: Apache-2.0
"""Delayed ACKs: the sender waits, and the receiver has what it waits for."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._follows import OF_A_LIMIT
from quiclab.why.mechanisms._receiver import announced_ack_delay_ms, held_back
from quiclab.why.mechanisms._trial import Trial

_MOST_TCP_MS, _MOST_QUIC_MS = 200.0, 25.0
"""Longest delay that is a receiver's policy: Linux's own, and QUIC's where the receiver announces no other."""
_LATE_NS = 5_000_000
"""Time by which a receiver may be later than its policy."""
_WAITS = (
    Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.WINDOW_AFTER_EXIT, Why.WINDOW, Why.STREAM_CREDIT, Why.CONNECTION_CREDIT,
    Why.STREAM_LIMIT, Why.RECEIVE_WINDOW, Why.SEND_BUFFER, Why.CONTESTED, Why.LOSS_DETECTION, Why.AWAITING_ACKS,
)  # fmt: skip
"""Waits that an acknowledgment or new credit ends."""


def _claim(trial: Trial) -> Claim:
    most_ns = _most_ms(trial) * 1e6 + _LATE_NS
    held = held_back(trial) & trial.why(*_WAITS) & (trial.length_ns <= most_ns)
    if not held.any():
        return Claim(held)
    longest = float(trial.length_ns.filter(held).max()) / 1e6  # type: ignore[arg-type]
    return Claim(held, (Fact("held", int(held.sum()), "acknowledgments"), Fact("longest", longest, "ms")))


def _most_ms(trial: Trial) -> float:
    """The longest delay of the receiver's acknowledgments: what it announces, else what is usual."""
    if not trial.evidence.quic:
        return _MOST_TCP_MS
    announced = announced_ack_delay_ms(trial)
    return _MOST_QUIC_MS if announced is None else announced


DELAYED_ACKNOWLEDGMENT = Mechanism(
    "delayed_acknowledgment",
    "delayed ACKs",
    Family.RECOVERY,
    "The receiver holds acknowledgments, or new credit, back to send fewer of them: up to 25 ms over QUIC where "
    "nothing else is agreed, up to 40 ms or more over TCP. A sender whose window is full waits for them.",
    "Parts of 4 ms and more of a wait for acknowledgments or credit in which the packet had come to the receiver, that "
    "had not acknowledged it yet, for no longer than its policy allows: a longer delay is no policy.",
    Level.E0,
    "RFC 9000 section 13.2, RFC 9293 section 3.8.6.3, RFC 5681 section 4.2",
    _claim,
    (
        Rival("client_without_processor", "a thread of the receiver waited for a processor meanwhile"),
        Rival("nagle", "the window has room, and less than a full segment waits"),
        Rival("receiver_application_limited", "credit waits for the program to read, while acknowledgments leave"),
    ),
    (
        Setting(
            "receiver",
            "ack_delay",
            "0 ms",
            "Acknowledgments leave at once.",
            ("more packets on the way back",),
            ("200 ms", "100 ms", "25 ms", "0 ms"),
        ),
        Setting(
            "receiver",
            "ack_frequency",
            1,
            "Every packet is acknowledged at once.",
            ("more packets on the way back",),
            (10, 2, 1),
        ),
        Setting(
            "sender",
            "peer_ack_delay",
            "1 ms",
            "The sender asks for acknowledgments without delay.",
            ("more packets on the way back",),
            ("100 ms", "25 ms", "1 ms"),
        ),
    ),
    follows=OF_A_LIMIT,
    reasons=_WAITS,
)
