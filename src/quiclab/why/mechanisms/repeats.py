# SPDX-License-Identifier: Apache-2.0
"""Repeats: the bottleneck serves again what was lost."""

from __future__ import annotations

import polars as pl

from quiclab.model.activity import What
from quiclab.model.tables.drop_reasons import CORRUPTED
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.what(What.RETRANSMISSION)
    if not edges.any() or _first_service(trial):
        return Claim(trial.none())
    return Claim(
        edges,
        (
            Fact("bytes_served", trial.bytes(edges), "bytes"),
            Fact("dropped_by_links", trial.drops(trial.way).height, "packets"),
        ),
    )


def _first_service(trial: Trial) -> bool:
    """True if everything that was lost was lost before the bottleneck had served it: then nothing is served twice."""
    lost = trial.drops(trial.way)
    unserved = lost.filter(pl.col("left_ns").is_null() | (pl.col("service_ns").fill_null(0) == 0))
    return 0 < lost.height == unserved.height and CORRUPTED not in trial.fate.values()


REPEATS = Mechanism(
    "repeats",
    "retransmission of lost data",
    Family.RECOVERY,
    "What was lost behind the bottleneck has to be served by it again. What a queue or a loss before it dropped "
    "has not taken its time yet, and counts as wire overhead.",
    "Edges on which the bottleneck serves bytes again of which no earlier copy arrived whole, unless all losses lay "
    "before the bottleneck.",
    Level.E0,
    "RFC 9002 section 6, RFC 6675",
    _claim,
    (Rival("spurious_retransmission", "an earlier copy of the bytes arrived"),),
    (Setting("path", "loss", "none", "Nothing is lost.", ("all other losses go too",)),),
    activities=(What.RETRANSMISSION,),
)
