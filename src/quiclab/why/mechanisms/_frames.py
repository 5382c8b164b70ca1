# SPDX-License-Identifier: Apache-2.0
"""Frames of QUIC whose packets a link dropped: updates of credit."""

from __future__ import annotations

import polars as pl

from quiclab.why.mechanisms._course import at_sender, course
from quiclab.why.mechanisms._trial import Trial

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
