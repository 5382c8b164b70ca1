# SPDX-License-Identifier: Apache-2.0
"""A receiver that is application-limited: its program leaves data unread, and credit or window close."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial

_LEAST_NS = 10_000_000
"""Shortest time for which a receiver must have kept what it could have read."""
_WHYS = (Why.RECEIVE_WINDOW, Why.STREAM_CREDIT, Why.CONNECTION_CREDIT)


def _claim(trial: Trial) -> Claim:
    waits = trial.why(*_WHYS)
    if not waits.any():
        return Claim(waits)
    at_receiver = trial.what(What.ACK_HELD, What.CLIENT if trial.way == "down" else What.SERVER)
    begin, end = trial.account["from_ns"], trial.account["until_ns"]

    def slow(first: int, after: int) -> bool:
        lengths = trial.length_ns[first:after]
        kept_ns = int(lengths.filter(at_receiver[first:after]).sum())
        return bool(kept_ns >= max(_LEAST_NS, (end[after - 1] - begin[first]) // 2))

    edges = trial.keep_runs(waits, slow)
    kept_ms = trial.ms(edges & at_receiver)
    return Claim(edges, (Fact("kept_unread", kept_ms, "ms"),) if edges.any() else ())


RECEIVER_APPLICATION_LIMITED = Mechanism(
    "receiver_application_limited",
    "receiver application-limited",
    Family.PROGRAMS,
    "The receiver's program read slowly. What it had not read used up the credit, or TCP's receive window, and the "
    "sender had to wait until it read on.",
    "Waits for credit or for the receive window of which the receiver had the packets for most of the time, and for "
    "10 ms or more, before it allowed more.",
    Level.E0,
    "RFC 9000 section 4.2, RFC 9293 section 3.8.6",
    _claim,
    (
        Rival(
            "stream_flow_control_limited",
            "the receiver allows more as soon as packets come: the window is too small for the path",
        ),
        Rival("receive_window_limited", "the receiver allows more as soon as packets come"),
        Rival("client_without_processor", "the receiver's program waited for a processor"),
    ),
    (
        Setting(
            "receiver",
            "cpu",
            "100 %",
            "The receiver gets a whole processor.",
            ("all of its work is faster",),
            ("15 %", "30 %", "60 %", "100 %"),
        ),
        Setting(
            "receiver",
            "stream_window",
            "16 MB",
            "More may wait to be read.",
            ("more memory at the receiver",),
            ("64 KB", "256 KB", "1 MB", "16 MB"),
        ),
    ),
    reasons=(Why.STREAM_CREDIT, Why.CONNECTION_CREDIT, Why.RECEIVE_WINDOW),
)
