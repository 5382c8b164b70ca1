# SPDX-License-Identifier: Apache-2.0
"""Sums of every trial's account, and the categories that two arms' evidence supports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.why.account import UNIONS, MetricScope, What, Why, rows_for, with_of

FloatArray = npt.NDArray[np.float64]
WHYS, WHATS = tuple(Why), tuple(What)
_UNDECIDED = 0.05
"""Share of a union's time, left undecided by one arm's evidence, beyond which only the union is compared."""
_LEAVES_A_NAME = 0.25
"""Share of a label's difference up to which one arm's undecided time leaves it a name of its own: were all of that time
the label's, three quarters of the difference would be left."""
Label = TypeVar("Label", bound=str)


@dataclass(frozen=True)
class Shares:
    """State of the trials that have an account."""

    why_ms: Mapping[str, FloatArray]
    """Trial → ms of each `Why`, in their order."""
    what_ms: Mapping[str, FloatArray]
    """Trial → ms of each `What`, in their order."""
    served_bytes: Mapping[str, float]
    """Trial → bytes that the bottleneck served towards the client, other flows' left out."""
    evidence: Mapping[str, Mapping[Why, frozenset[str]]]
    """Trial → tables that decided each `Why`."""
    of: Mapping[str, MetricScope]
    """Trial → what its account is of."""

    def evidence_of(self, trials: Sequence[str], whys: Sequence[Why]) -> tuple[str, ...]:
        """The tables that decided some labels in some trials."""
        found = {table for trial in trials for why in whys for table in self.evidence[trial].get(why, ())}
        return tuple(sorted(found))


def shares(study: OpenedStudy, metric: str) -> Shares:
    """Every trial's account for what a study compares by a metric; none where its tables have none.

    A video that never stalled has an account of its stalls, in which nothing takes time.
    """
    if "account_totals" not in study.tables:
        return Shares({}, {}, {}, {}, {})
    every = with_of(study.table("account_totals")).with_columns((pl.col("total_ns") / 1e6).alias("ms"))
    rows = every.filter(rows_for(metric))
    videos = every.filter(MetricScope.START_UP.rows)["trial_id"].unique().to_list()
    if metric == MetricScope.STALL.metric:
        of = dict.fromkeys(videos, MetricScope.STALL)
    else:
        of = {trial: MetricScope(of) for trial, of in rows.select("trial_id", "of").unique().iter_rows()}
    own = rows.filter(pl.col("what") != str(What.OTHER_FLOW))
    served = own.group_by("trial_id").agg(pl.col("size_bytes").sum())
    evidence: dict[str, dict[Why, frozenset[str]]] = {}
    for trial, why, tables in rows.group_by("trial_id", "why").agg(pl.col("evidence").unique()).iter_rows():
        evidence.setdefault(trial, {})[Why(why)] = frozenset(tables)
    served_bytes = dict.fromkeys(of, 0.0) | dict(served.iter_rows())
    why, what = _by_label(rows, "why", WHYS, of), _by_label(rows, "what", WHATS, of)
    return Shares(why, what, served_bytes, {trial: evidence.get(trial, {}) for trial in of}, of)


def _by_label(rows: pl.DataFrame, column: str, labels: Sequence[Label], trials: Iterable[str]) -> dict[str, FloatArray]:
    order = {str(label): at for at, label in enumerate(labels)}
    found: dict[str, FloatArray] = {trial: np.zeros(len(order)) for trial in trials}
    for trial, label, ms in rows.group_by("trial_id", column).agg(pl.col("ms").sum()).iter_rows():
        found[trial][order[label]] = ms
    return found


def categories(ms: FloatArray) -> list[tuple[Why, tuple[Why, ...]]]:
    """The categories to compare, each with the labels that it sums up, of an array (pairs, arms, whys).

    Handshake round trips are compared as one, since TCP's and QUIC's are not the same. Any other union takes its
    labels in where one arm's evidence leaves more than a twentieth of its time undecided among them. A label stays its
    own where one arm shows more time for it, by four times what the other arm's evidence leaves undecided: were all of
    that its, three quarters of the difference would be left, and what the first one leaves undecided could only add.
    """
    means = ms.mean(axis=0)
    at = {why: place for place, why in enumerate(WHYS)}
    taken: dict[Why, Why] = {}
    for union, members in UNIONS.items():
        known = [member for member in members if member not in taken]
        columns = [at[union], *(at[member] for member in members)]
        undecided = bool((means[:, at[union]] > _UNDECIDED * max(means[:, columns].sum(), 1e-9)).any())
        if union is Why.SET_UP or undecided:
            for member in known:
                if union is Why.SET_UP or not _stands_out(means, member):
                    taken[member] = union
            taken.update({member: union for member, into in taken.items() if into in members})
    groups: dict[Why, list[Why]] = {}
    for why in WHYS:
        groups.setdefault(taken.get(why, why), []).append(why)
    ordered = sorted(groups.items(), key=lambda group: at[group[0]])
    return [(category, tuple(members)) for category, members in ordered]


def _stands_out(means: FloatArray, why: Why) -> bool:
    """True if one arm's time of a label exceeds the other's, whatever that one's undecided time was: array (arms, whys)
    of means."""
    undecided = [WHYS.index(union) for union, members in UNIONS.items() if why in members]
    own = means[:, WHYS.index(why)]
    less = int(own.argmin())
    return why not in UNIONS and bool(means[less, undecided].sum() < _LEAVES_A_NAME * abs(own[1] - own[0]))
