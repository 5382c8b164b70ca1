# SPDX-License-Identifier: Apache-2.0
"""The limit on the number of streams: the client may ask for no more at once."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.STREAM_LIMIT)
    if not edges.any():
        return Claim(edges)
    limits = trial.evidence.table("flow_control").filter(
        pl.col("event") == "limit", pl.col("scope") == "streams_bidi", pl.col("direction") == "up"
    )
    first = limits["limit"].drop_nulls().min()
    count = (Fact("first_limit", float(first), "streams"),) if isinstance(first, int) else ()
    return Claim(edges, (*count, Fact("raised", limits["limit"].n_unique(), "")))


STREAM_LIMIT = Mechanism(
    "stream_limit",
    "concurrent stream limit",
    Family.CREDIT,
    "The server allows only so many requests at once. The client has to wait for an answer, and over QUIC for another "
    "MAX_STREAMS, before it can ask for the next object: a round trip or two for each group.",
    "Time in which all that was asked for is sent, and the next request waits for the server's limit on streams.",
    Level.E0,
    "RFC 9000 section 4.6, RFC 9113 section 5.1.2; Kakhki et al., IMC 2017, section 5.2 (MSPC)",
    _claim,
    (Rival("requests_one_after_the_other", "the limit had room: the client asks for so few at once by itself"),),
    (
        Setting(
            "sender",
            "max_streams",
            128,
            "More requests may be under way at once.",
            ("more responses share the path at a time",),
            (1, 4, 16, 128),
        ),
    ),
    reasons=(Why.STREAM_LIMIT,),
)
