# SPDX-License-Identifier: Apache-2.0
"""Jitter: the path delays single packets beyond its least delay."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.what(What.JITTER)
    if not edges.any():
        return Claim(edges)
    longest = float(trial.length_ns.filter(edges).max()) / 1e6  # type: ignore[arg-type]
    return Claim(edges, (Fact("delayed", int(edges.sum()), "packets"), Fact("longest", longest, "ms")))


JITTER = Mechanism(
    "jitter",
    "path jitter",
    Family.PATH,
    "The path delayed packets of the critical path beyond its least delay: varying delay, or packets that are held "
    "back to be overtaken.",
    "Parts of a packet's way that lie beyond the least delay of its direction.",
    Level.E0,
    "RFC 3393",
    _claim,
    (Rival("reordering_taken_for_loss", "the sender also reduced its window because of it"),),
    (
        Setting("path", "jitter", "none", "Each packet takes the least delay.", ("nothing overtakes any more",)),
        Setting("path", "reorder", "none", "No packet is held back.", ("nothing overtakes any more",)),
    ),
    activities=(What.JITTER,),
)
