# SPDX-License-Identifier: Apache-2.0
"""A policer on the path that drops what exceeds its rate, and the window that is reduced after it."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.model.tables.drop_reasons import DropKind, reasons_of
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.WINDOW_AFTER_LOSS) & trial.dropped_by(DropKind.POLICER)
    drops = trial.drops(trial.way)
    dropped = drops.filter(drops["reason"].is_in(reasons_of(DropKind.POLICER))).height
    return Claim(edges, (Fact("dropped_by_the_policer", dropped, "packets"),) if edges.any() else ())


POLICED = Mechanism(
    "policed",
    "congestion window after policer drops",
    Family.WINDOW,
    "A policer in the network drops what exceeds its rate, mostly of one transport alone, and keeps no queue: the "
    "sender takes the losses for congestion.",
    "Waits for a full window whose last reduction names a packet that the link's policer dropped.",
    Level.E0,
    "Flach et al., An Internet-wide analysis of traffic policing, SIGCOMM 2016",
    _claim,
    (
        Rival("loss_on_the_path", "losses come at any rate, and of any transport"),
        Rival("overshoot", "packets waited in a queue before one was dropped"),
    ),
    (
        Setting(
            "path",
            "police",
            "none",
            "Without the policer the link carries its full rate.",
            ("the rate is another one",),
        ),
    ),
    reasons=(Why.WINDOW_AFTER_LOSS,),
    needs="dropped_by_policers",
)
