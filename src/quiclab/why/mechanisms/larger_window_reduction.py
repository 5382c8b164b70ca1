# SPDX-License-Identifier: Apache-2.0
"""A window that one loss reduces by more than CUBIC does: to a half, or to less by mistake."""

from __future__ import annotations

from statistics import median

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Divides, Fact, Family, Mechanism, Rival, settings_of_both_transports
from quiclab.why.mechanisms._measures import WINDOW_LEFT
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms._window_course import Reduction, before_each_end, reductions

_CUBIC = 0.7
"""Share of the window that CUBIC leaves (RFC 9438 section 4.6)."""
_LEFT_AT_MOST = 0.65
"""Share from which down a reduction counts as a larger one. The kernel rounds windows down to whole packets, so it must
be larger by one packet, too."""


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.WINDOW_AFTER_LOSS)
    # A sender with a model of the path has other reasons for its window than the last loss.
    if trial.modelled or not edges.any():
        return Claim(trial.none())
    large = [each for each in reductions(trial, edges) if _is_large(each)]
    held, events = before_each_end(trial), trial.account["event_ns"]
    smaller = trial.none()
    for each in large:
        below = held < _CUBIC * each.before
        smaller |= below.fill_null(value=False) & (events == each.event_ns).fill_null(value=False)
    if not (edges & smaller).any():
        return Claim(trial.none())
    return Claim(
        edges & smaller,
        (
            Fact("lost_packets", trial.drops(trial.way).height, ""),
            Fact("sent_packets", len(trial.own), ""),
            Fact("larger_reductions", len(large), ""),
            Fact("window_left_by_them_at_most", 100 * median(each.left.most for each in large), "%"),
            Fact("window_left_by_cubic", 100 * _CUBIC, "%"),
        ),
    )


def _is_large(reduction: Reduction) -> bool:
    left = reduction.left.most
    by_a_packet = left * reduction.before + 1 <= _CUBIC * reduction.before
    return left <= _LEFT_AT_MOST and by_a_packet and not reduction.to_least


LARGER_WINDOW_REDUCTION = Mechanism(
    "larger_window_reduction",
    "larger window reduction after each loss than CUBIC's",
    Family.WINDOW,
    "At a loss the sender reduced its window to less than the 70 % that CUBIC leaves: to a half, as Reno and New Reno "
    "do, or to less by mistake. The link idled until the window had grown back to what CUBIC's reduction would have "
    "left. It is told where the arms differ in it: else the losses are what makes them differ.",
    "Waits for a full window smaller than 70 % of what it was before its last reduction, where that left 65 % or less "
    "in one step, and more than the least window.",
    Level.E0,
    "RFC 9438 section 4.6; RFC 9002 section 7.3.2, RFC 5681 section 3.1",
    _claim,
    (
        Rival("loss_on_the_path", "both arms' reductions leave as much of the window: one has more losses"),
        Rival("reduced_in_recovery", "the sender's log has several steps down in one episode of losses"),
        Rival("minimum_window", "a timeout or persistent congestion leaves the least window"),
    ),
    settings_of_both_transports(
        "congestion_control",
        "cubic",
        "CUBIC leaves 70 % of the window after a loss.",
        ("the window grows back another way, and slow start may end otherwise",),
    ),
    reasons=(Why.WINDOW_AFTER_LOSS,),
    divides=Divides(("loss_on_the_path", "overshoot", "competition_for_the_queue", "policed"), by=WINDOW_LEFT),
)
