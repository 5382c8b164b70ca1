# SPDX-License-Identifier: Apache-2.0
"""Slow start: a window that was never reduced, and that is full."""

from __future__ import annotations

import polars as pl

from quiclab.accounting.levels import Level
from quiclab.accounting.why import Why
from quiclab.diagnoses._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.diagnoses._trial import Trial

_SET_UP = (
    Why.TCP_HANDSHAKE, Why.TLS_ROUND_TRIP, Why.QUIC_HANDSHAKE, Why.HELLO_RETRY_REQUEST, Why.RETRY, Why.SET_UP,
    Why.AMPLIFICATION_LIMIT, Why.SET_UP_LOSS, Why.REQUEST,
)  # fmt: skip


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.SLOW_START)
    return Claim(edges, _flights(trial) if edges.any() else ())


def _flights(trial: Trial) -> tuple[Fact, ...]:
    """What the sender let out in the first round trip of the body, and in the second."""
    body = (~trial.why(*_SET_UP)).arg_true()
    trip_ns = trial.round_trip_ns
    if body.is_empty() or not trip_ns:
        return ()
    sent = trial.ahead.filter(pl.col("index").is_in(list(trial.own)))
    begin_ns = sent.filter(pl.col("left_ns") > trial.account["from_ns"][int(body[0])])["arrival_ns"].min()
    if not isinstance(begin_ns, int):
        return ()
    first, second = (
        float(
            sent.filter(pl.col("arrival_ns").is_between(begin_ns + n * trip_ns, begin_ns + (n + 1) * trip_ns, "left"))[
                "size_bytes"
            ].sum()
        )
        for n in (0, 1)
    )
    growth = (Fact("growth_per_round_trip", second / first, ""),) if first and second else ()
    return (Fact("first_flight", first, "bytes"), Fact("second_flight", second, "bytes"), *growth)


SLOW_START = Mechanism(
    "slow_start",
    "slow start",
    Family.WINDOW,
    "The sender begins with a small window and doubles it with each round trip, so that a short transfer, or the "
    "beginning of a long one, waits for acknowledgments while the link is idle.",
    "Waits for a full window that was never reduced; what was sent in the first two round trips of the body is told.",
    Level.E0,
    "RFC 9002 section 7.3.1, RFC 5681 section 3.1, RFC 6928",
    _claim,
    (
        Rival("stream_credit", "the highest offset sent equals the limit of the receiver"),
        Rival("senders_buffer", "what is unacknowledged stays at one round number, and does not grow"),
        Rival("model_of_the_path", "the sender's log or kernel says that its start-up is over"),
        Rival("slow_start_left_without_loss", "the log shows the end of slow start, and the window hardly grows after"),
    ),
    (
        Setting(
            "sender",
            "initial_window",
            64,
            "A larger initial window saves round trips at the beginning.",
            ("the first burst may overflow a short queue",),
            (10, 16, 32, 64),
        ),
        Setting(
            "tcp",
            "initial_window",
            64,
            "A larger initial window saves round trips at the beginning.",
            ("it holds for both ends of the connection", "the first burst may overflow a short queue"),
            (10, 16, 32, 64),
        ),
    ),
)
