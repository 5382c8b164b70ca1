# SPDX-License-Identifier: Apache-2.0
"""The proxy's origin: the proxy has to wait for data from the server behind it."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.ORIGIN)
    return Claim(edges, (Fact("waits", trial.waits(edges), ""),) if edges.any() else ())


ORIGIN = Mechanism(
    "origin",
    "waiting for the origin",
    Family.PROGRAMS,
    "The proxy had passed on all it had, and waited for its origin: for the connection there, its windows, its "
    "losses, or its answer.",
    "Waits that end when data from the origin come to the proxy, and the way of these data over the links behind it.",
    Level.E0,
    "RFC 9110 section 3.7",
    _claim,
    (Rival("application", "there is no proxy, or it had data of the origin to send"),),
    (
        Setting(
            "sender",
            "origin_connection",
            "warm",
            "The connection to the origin is there already.",
            ("its congestion window has grown already",),
        ),
    ),
    reasons=(Why.ORIGIN,),
)
