# SPDX-License-Identifier: Apache-2.0
"""Agreement of captures with the link's own log: both have every packet's instant, written by the same process
from one clock reading.

So they differ by nothing, unless somebody changed one of them: a capture whose clock runs at another speed, or whose
packets are in another order, is not what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.model.trial_record import TrialRecord

_TOLERANCE_NS = 1000
"""The finest step of the times in a capture: none that another program wrote anew is finer than a microsecond."""


def capture_problem(trial: TrialRecord, tables: Mapping[str, pl.DataFrame]) -> str | None:
    """The first capture of the client's leg that contradicts the link's log, with the largest difference; None where
    they agree, or where one of them is not there."""
    links = trial.links_of("client")
    if not links:
        return None
    ends = (("client", links[0], links[0].capture_client), ("server", links[-1], links[-1].capture_server))
    for end, link, capture in ends:
        logs = [f"raw/{link.packet_log}"]
        if trial.second_link and link is links[0]:
            logs.append(f"raw/{trial.second_link.packet_log}")
        apart_ns = _largest_difference(tables, f"raw/{capture}", end, logs)
        if apart_ns is not None and apart_ns > _TOLERANCE_NS:
            return (
                f"the capture at the {end}'s end contradicts the link's log: a packet's times differ by "
                f"{apart_ns / 1e6:.3f} ms"
            )
    return None


def _largest_difference(tables: Mapping[str, pl.DataFrame], capture: str, end: str, logs: list[str]) -> int | None:
    """Largest difference of a packet's time in the capture and in the link's logs, each of which counts from 0; None
    without a packet that both have."""
    seen = tables["ip_packets"].filter(pl.col("source") == capture, pl.col("packet_index").is_not_null())
    sent = pl.col("direction") == ("up" if end == "client" else "down")
    told = tables["link_packets"].filter(pl.col("source").is_in(logs), pl.col("action") != "outside_model")
    told = told.select(
        "direction",
        packet_index="index",
        told_ns=pl.when(sent).then("arrival_ns").otherwise(pl.col("due_ns") + pl.col("lateness_ns")),
    ).drop_nulls("told_ns")
    both = seen.select("direction", "packet_index", "number", "time_ns").join(told, on=("direction", "packet_index"))
    # The link's copy of a packet has its number, as has a packet of the client's other network.
    nearest = both.group_by("number").agg(((pl.col("time_ns") - pl.col("told_ns")).abs()).min().alias("apart_ns"))
    return None if nearest.is_empty() else int(nearest["apart_ns"].max())  # type: ignore[arg-type]
