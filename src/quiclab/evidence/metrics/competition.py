# SPDX-License-Identifier: Apache-2.0
"""Several flows at one bottleneck: how much each got, how evenly, how soon, and how long the queue was."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.flows import STEP_NS, Common, common_time, downloads
from quiclab.model.trial_record import Competition

_WINDOW = 10
"""Steps of 100 ms over which shares are compared."""
_EVEN = 0.95
"""Jain's index from which shares count as even: of two flows neither has more than 61.5 %."""
_HOLDS = 20
"""Steps for which the shares must stay even."""

Floats = npt.NDArray[np.float64]


def jain_index(shares: Sequence[float]) -> float:
    """Jain's index (Σx)² / (n Σx²): 1 for equal shares, 1/n where one has all (Jain, Chiu, Hawe, DEC-TR-301, 1984)."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 0.0


def _competition(evidence: Evidence) -> Competition:
    if evidence.trial.competition is None:
        raise Unknown("nobody else used the link")
    return evidence.trial.competition


def _common(evidence: Evidence) -> Common:
    common = common_time(_competition(evidence))
    if common.s <= 0:
        raise Unknown("the downloads never ran at the same time")
    return common


def _rows(evidence: Evidence) -> pl.DataFrame:
    _common(evidence)
    return evidence.table("flows").filter(pl.col("background").is_null())


def _several_flows(evidence: Evidence) -> pl.DataFrame:
    rows = _rows(evidence)
    if rows.height < 2:
        raise Unknown("there was one download only")
    return rows


def throughput(evidence: Evidence) -> float:
    """Throughput of the measured flow."""
    return float(_rows(evidence)["throughput_bit_per_s"][0])


def others_throughput(evidence: Evidence) -> float:
    """Mean throughput of the measured flow's competitors."""
    return float(_several_flows(evidence)["throughput_bit_per_s"][1:].mean())  # type: ignore[arg-type]


def share_pct(evidence: Evidence) -> float:
    """Share of the measured flow in the downloads' throughput."""
    share = _several_flows(evidence)["share_pct"][0]
    if share is None:
        raise Unknown("nothing arrived")
    return float(share)


def fair_share_ratio(evidence: Evidence) -> float:
    """Ratio of the measured flow's share to an equal share: 1 is fair, whatever the number of flows."""
    return share_pct(evidence) * _several_flows(evidence).height / 100


def jain(evidence: Evidence) -> float:
    """Jain's index over all downloads."""
    return jain_index(_several_flows(evidence)["throughput_bit_per_s"].to_list())


def converge_ms(evidence: Evidence) -> float:
    """Time from when all downloads run until their shares are even."""
    common, began_ns = _common(evidence), _competition(evidence).began_ns
    labels = [flow.label for flow in downloads(_competition(evidence))]
    steps = evidence.table("flow_throughput").filter(pl.col("time_ms") * 1e6 - STEP_NS >= common.start_ns - began_ns)
    got = np.array([steps.filter(pl.col("flow") == label)["bytes"].to_numpy() for label in labels], dtype=np.float64)
    if len(labels) < 2 or got.shape[1] < _WINDOW + _HOLDS:
        raise Unknown("there was one download only, or too short a time in common")
    windows = np.lib.stride_tricks.sliding_window_view(got, _WINDOW, axis=1).sum(axis=2)
    even = [jain_index(each.tolist()) >= _EVEN for each in windows.T]
    first = next((at for at in range(len(even) - _HOLDS) if all(even[at : at + _HOLDS + 1])), None)
    if first is None:
        raise Unknown(f"the shares never stayed even: Jain's index over 1 s at or above {_EVEN} for 2 s")
    times = steps.filter(pl.col("flow") == labels[0])["time_ms"]
    return float(times[first + _WINDOW - 1] - (common.start_ns - began_ns) / 1e6)


def _queue(evidence: Evidence, over: Callable[[pl.Series], float]) -> float:
    common = _common(evidence)
    met = evidence.table("link_packets").filter(
        pl.col("direction") == "down", pl.col("action") != "outside_model", common.holds("arrival_ns")
    )
    if met.is_empty():
        raise Unknown("the packet log holds no packet going down in that time")
    return over(met["queue_bytes"])


def _mean(met: pl.Series) -> float:
    return float(met.mean())  # type: ignore[arg-type]


def _p95(met: pl.Series) -> float:
    return float(met.quantile(0.95, interpolation="higher"))  # type: ignore[arg-type]


_WHILE = "From the start of the last download to the end of the competition: "

COMPETITION = (
    Metric(
        "shared_throughput_bit_per_s",
        "throughput beside others",
        "bit/s",
        "higher",
        _WHILE + "IP packets of the measured flow that arrived at the client's end of the link.",
        throughput,
    ),
    Metric(
        "others_throughput_bit_per_s",
        "mean throughput of the competitors",
        "bit/s",
        "none",
        _WHILE + "the mean of its competitors, background traffic left out.",
        others_throughput,
    ),
    Metric(
        "share_pct",
        "share of the measured flow",
        "%",
        "none",
        _WHILE + "the measured flow's part of what all downloads got.",
        share_pct,
        heading="share",
    ),
    Metric(
        "fair_share_ratio",
        "share of the measured flow over an even share",
        "",
        "none",
        "share_pct over the part that would be even: 1 is fair, 2 is twice as much, whatever the number of downloads.",
        fair_share_ratio,
    ),
    Metric(
        "jain_index",
        "Jain's fairness index",
        "",
        "higher",
        _WHILE + "Jain's index of the downloads' throughputs, 1 where all got the same and 1/n where one got all.",
        jain,
        heading="Jain's index",
    ),
    Metric(
        "converge_ms",
        "time until the flows share evenly",
        "ms",
        "lower",
        "From the start of the last download to the first instant from which Jain's index of the downloads, over the "
        "second before, stays at or above 0.95 for 2 s.",
        converge_ms,
        heading="even after",
    ),
    Metric(
        "queue_down_mean_bytes",
        "mean queue of the bottleneck",
        "bytes",
        "none",
        _WHILE + "mean of the queue that packets going down met at the bottleneck.",
        lambda evidence: _queue(evidence, _mean),
        heading="mean queue",
    ),
    Metric(
        "queue_down_p95_bytes",
        "queue of the bottleneck, 95th percentile",
        "bytes",
        "none",
        _WHILE + "its 95th percentile.",
        lambda evidence: _queue(evidence, _p95),
        heading="queue, p95",
    ),
)
