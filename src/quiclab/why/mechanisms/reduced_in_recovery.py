# SPDX-License-Identifier: Apache-2.0
"""A window that one loss episode reduced more than once."""

from __future__ import annotations

from statistics import median

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._recovery_periods import reduced_again
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms._window_course import before_each_end, full_bytes


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.WINDOW_AFTER_LOSS)
    periods = reduced_again(trial) if edges.any() else []
    if not periods:
        return Claim(trial.none())
    held, full = before_each_end(trial), full_bytes(trial)
    ends = trial.account["until_ns"]
    smaller = trial.none()
    for each in periods:
        then = ends >= each.again_ns
        if each.until_ns is not None:
            then &= ends < each.until_ns
        smaller |= then & (held < each.once / full).fill_null(value=False)
    return Claim(
        edges & smaller,
        (
            Fact("episodes", len(periods), ""),
            Fact("reductions", sum(each.reductions for each in periods), ""),
            Fact("window_left_by_the_first", median(100 * each.once / each.before for each in periods), "%"),
            Fact("window_left_by_all", median(100 * each.least / each.before for each in periods), "%"),
        ),
    )


REDUCED_IN_RECOVERY = Mechanism(
    "reduced_in_recovery",
    "congestion window reduced again in one loss episode",
    Family.WINDOW,
    "The sender reduced its window a second time, or more often, for packets that it had sent before the first "
    "reduction. One episode of losses is to reduce a window once; the link idled until the window had grown back to "
    "what the first reduction had left.",
    "Waits for a full window smaller than the first reduction of the recovery period had left it, where all packets "
    "declared lost at a later reduction were sent before that, and less than half of the window is left.",
    Level.E0,
    "RFC 9002 section 7.3.2, RFC 6582 section 3.2",
    _claim,
    (
        Rival("loss_on_the_path", "a packet that was sent after the first reduction was lost: that is another episode"),
        Rival("overshoot", "the window was reduced once, by the first loss of the full queue"),
        Rival("minimum_window", "the sender's log says that congestion was persistent, or a timeout had expired"),
    ),
    (
        Setting(
            "sender",
            "congestion_control",
            "bbr",
            "A congestion control that does not reduce its window at every loss.",
            ("slow start, pacing and the queue are other ones",),
        ),
    ),
    reasons=(Why.WINDOW_AFTER_LOSS,),
    transports=frozenset({Transport.QUIC}),
)
