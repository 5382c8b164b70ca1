# SPDX-License-Identifier: Apache-2.0
"""A lost update of credit: the sender waits until the receiver repeats it."""

from __future__ import annotations

from bisect import bisect_left

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._course import at_sender, course
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    waits = trial.why(Why.STREAM_CREDIT, Why.CONNECTION_CREDIT, Why.STREAM_LIMIT, Why.CONTESTED)
    lost = dropped_credit(trial) if waits.any() else []
    if not lost:
        return Claim(trial.none())
    begin, end = trial.account["from_ns"], trial.account["until_ns"]
    edges = trial.keep_runs(
        waits, lambda first, after: bisect_left(lost, begin[first]) < bisect_left(lost, end[after - 1])
    )
    times = trial.times(edges)
    longest = max((until - since for since, until in times), default=0) / 1e6
    return Claim(edges, (Fact("lost_updates", len(lost), ""), Fact("longest_wait", longest, "ms")) if times else ())


CREDIT_UPDATE_LOST = Mechanism(
    "credit_update_lost",
    "lost flow-control update",
    Family.CREDIT,
    "The receiver had allowed more, but the packet that said so was lost. The sender waited until the receiver "
    "repeated it, by a timer of its own or because of a STREAM_DATA_BLOCKED.",
    "Waits for credit within which a link dropped a packet with MAX_DATA, MAX_STREAM_DATA or MAX_STREAMS.",
    Level.E0,
    "RFC 9000 sections 4.1 and 13.3; nginx pull request 1492",
    _claim,
    (
        Rival(
            "stream_flow_control_limited",
            "no update was dropped while the sender waited: the window is too small for the path",
        ),
    ),
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


# Frames of QUIC whose packets a link dropped: updates of credit.
_UPDATES = ("max_data", "max_stream_data", "max_streams")
_KEY = ("source", "packet_type", "packet_number")


def dropped_credit(trial: Trial) -> list[int]:
    """Instants at which packets with updates of credit left the bodies' receiver that a link then dropped."""
    evidence = trial.evidence
    lost_somewhere = course(evidence, trial.back).filter(pl.col("reason") != "").select("index")
    if lost_somewhere.is_empty() or not evidence.quic or evidence.second_link is not None:
        return []
    drops = at_sender(evidence, trial.back).join(lost_somewhere, on="index")
    drops = drops.select(pl.col("index").alias("packet_index"), "arrival_ns")
    end = pl.col("vantage") == evidence.receiver, pl.col("event") == "sent"
    lost = evidence.table("packets").filter(*end, pl.col("direction") == trial.back).join(drops, on="packet_index")
    frames = evidence.table("frames").filter(*end, pl.col("frame_type").is_in(_UPDATES)).select(_KEY).unique()
    return sorted(set(lost.join(frames, on=_KEY)["arrival_ns"].to_list()))
