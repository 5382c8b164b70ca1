# SPDX-License-Identifier: Apache-2.0
"""Slow start: a window that was never reduced, and that is full."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._flights import flights, grows
from quiclab.why.mechanisms._follows import OF_THE_FIRST_FLIGHT
from quiclab.why.mechanisms._receiver import held_back
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    # What an acknowledgment is held back for is the receiver's time, whatever mechanism has it.
    edges = grows(trial, trial.why(Why.SLOW_START)) & ~held_back(trial)
    return Claim(edges, flights(trial) if edges.any() else ())


SLOW_START = Mechanism(
    "slow_start",
    "slow start",
    Family.WINDOW,
    "The sender begins with a small window and doubles it with each round trip, so that a short transfer, or the "
    "beginning of a long one, waits for acknowledgments while the link is idle.",
    "Waits for a full window that was never reduced, behind a flight larger than all before it; what was sent in the "
    "first two round trips of the body is told.",
    Level.E0,
    "RFC 9002 section 7.3.1, RFC 5681 section 3.1, RFC 6928",
    _claim,
    (
        Rival("stream_flow_control_limited", "the highest offset sent equals the limit of the receiver"),
        Rival("send_buffer_limited", "what is unacknowledged stays at one round number, and does not grow"),
        Rival("bbr_model_limited", "the sender's log or kernel says that its start-up is over"),
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
    follows=OF_THE_FIRST_FLIGHT,
    reasons=(Why.SLOW_START,),
)
