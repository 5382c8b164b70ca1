# SPDX-License-Identifier: Apache-2.0
"""Frames of QUIC whose packets a link dropped: updates of credit."""

from __future__ import annotations

import polars as pl

from quiclab.diagnoses._trial import Trial

_UPDATES = ("max_data", "max_stream_data", "max_streams")
_KEY = ("source", "packet_type", "packet_number")


def dropped_credit(trial: Trial) -> list[int]:
    """Instants at which packets of the bodies' receiver with updates of credit came to a link that dropped them."""
    evidence = trial.evidence
    drops = trial.drops(trial.back).select(pl.col("index").alias("packet_index"), "arrival_ns")
    if drops.is_empty() or not evidence.quic or not evidence.one_link:
        return []
    end = pl.col("vantage") == evidence.receiver, pl.col("event") == "sent"
    lost = evidence.table("packets").filter(*end, pl.col("direction") == trial.back).join(drops, on="packet_index")
    frames = evidence.table("frames").filter(*end, pl.col("frame_type").is_in(_UPDATES)).select(_KEY).unique()
    return sorted(set(lost.join(frames, on=_KEY)["arrival_ns"].to_list()))
