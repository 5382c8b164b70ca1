# SPDX-License-Identifier: Apache-2.0
"""A lost update of credit: the sender waits until the receiver repeats it."""

from __future__ import annotations

from bisect import bisect_left

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._frames import dropped_credit
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    waits = trial.why(Why.STREAM_CREDIT, Why.CONNECTION_CREDIT, Why.STREAM_LIMIT, Why.CONTESTED)
    lost = dropped_credit(trial) if waits.any() else []
    if not lost:
        return Claim(trial.none())
    begin, end = trial.account["from_ns"], trial.account["until_ns"]
    edges = trial.of_runs(
        waits, lambda first, after: bisect_left(lost, begin[first]) < bisect_left(lost, end[after - 1])
    )
    times = trial.times(edges)
    longest = max((until - since for since, until in times), default=0) / 1e6
    return Claim(edges, (Fact("lost_updates", len(lost), ""), Fact("longest_wait", longest, "ms")) if times else ())


CREDIT_UPDATE_LOST = Mechanism(
    "credit_update_lost",
    "lost update of credit",
    Family.CREDIT,
    "The receiver had allowed more, but the packet that said so was lost. The sender waited until the receiver "
    "repeated it, by a timer of its own or because of a STREAM_DATA_BLOCKED.",
    "Waits for credit within which a link dropped a packet with MAX_DATA, MAX_STREAM_DATA or MAX_STREAMS.",
    Level.E0,
    "RFC 9000 sections 4.1 and 13.3; nginx pull request 1492",
    _claim,
    (Rival("stream_credit", "no update was dropped while the sender waited: the window is too small for the path"),),
    (
        Setting(
            "receiver",
            "stream_window",
            "16 MB",
            "With more credit in hand a lost update does no harm.",
            ("the receiver may have to keep more",),
            ("64 KB", "256 KB", "1 MB", "16 MB"),
        ),
        Setting(
            "receiver",
            "connection_window",
            "24 MB",
            "With more credit in hand a lost update does no harm.",
            ("the receiver may have to keep more",),
            ("64 KB", "256 KB", "1 MB", "24 MB"),
        ),
        Setting("path", "loss", "none", "No update is lost.", ("all other losses go too",)),
    ),
    reasons=(Why.STREAM_CREDIT, Why.CONNECTION_CREDIT, Why.STREAM_LIMIT, Why.CONTESTED),
    transports=frozenset({Transport.QUIC}),
)
