# SPDX-License-Identifier: Apache-2.0
"""Two arms' accounts of time against each other: by how much each part of a transfer's time differs, cell by cell.

In each pair the parts' differences add up to that of the times to the last byte, to the nanosecond. Over pairs means
add up and medians do not, so that the steps are means over the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab import statistics
from quiclab.accounting import Part, account_of_download
from quiclab.analysis.model import ArmResult, Comparison
from quiclab.analysis.study import read_record
from quiclab.metrics import Evidence, Unknown
from quiclab.opened import OpenedStudy
from quiclab.statistics import Interval
from quiclab.tables import TABLES

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """One part of the time, or all of it, in both arms: means over the pairs, in ms."""

    part: Part | None
    """The part; None where the step is the whole time to the last byte."""
    baseline_ms: float
    other_ms: float
    difference_ms: float
    """Mean of other − baseline: positive where the other arm takes longer."""
    interval_ms: Interval | None
    """Interval of the difference; those of parts are at a level at which they hold at once (Bonferroni)."""
    p: float | None = None
    """Exact signed-rank test of the pairs' differences; None without a pair."""

    def differs(self, alpha: float) -> bool:
        """Whether the difference is there: its interval, which rests on means, excludes 0, and the exact test, which
        needs no shape, agrees at the level `alpha`."""
        if self.interval_ms is None or self.p is None:
            return False
        return self.p <= alpha and not self.interval_ms.low <= 0 <= self.interval_ms.high


@dataclass(frozen=True)
class Waterfall:
    """The way from the baseline's time to the last byte to the other arm's, part by part, in one cell."""

    comparison: Comparison
    pairs: int
    """Pairs in which both trials have an account."""
    without: int
    """Further pairs of verified trials, in which one or both have none."""
    total: Step
    steps: tuple[Step, ...]
    """One step for each part, in the order of `Part`; empty without a pair."""
    served_bytes: tuple[float, float]
    """Mean bytes that the bottleneck served towards the client: baseline, other."""
    first_without: str | None = None
    """The first trial without an account."""

    @property
    def gross_ms(self) -> float:
        """Sum of the parts' differences without their signs: what moved, also where it cancels."""
        return sum(abs(step.difference_ms) for step in self.steps)


def waterfalls(study: OpenedStudy, comparisons: Sequence[Comparison], alpha: float) -> list[Waterfall]:
    """One waterfall for each comparison, in their order. Raises DecodeError for a table that cannot be read."""
    shares, served = _shares(study) if "account" in study.tables else ({}, {})
    return [_waterfall(each, shares, served, alpha) for each in comparisons]


def why_without(study: OpenedStudy, waterfall: Waterfall) -> str:
    """Why the first trial without an account has none; "" where all have one."""
    trial_id = waterfall.first_without
    if trial_id is None:
        return ""
    tables = {name: table for name in TABLES if (table := study.of_trial(name, trial_id)) is not None}
    try:
        account_of_download(Evidence(tables, read_record(study.directory / "trials" / trial_id)))
    except Unknown as unknown:
        return str(unknown)
    return f"its tables were made by another version; `quiclab report {study.directory.name}` makes them anew"


_Shares = Mapping[str, FloatArray]
"""Trial → ms of each part, in the order of `Part`."""


def _shares(study: OpenedStudy) -> tuple[_Shares, Mapping[str, float]]:
    """Every account of the study, and the bytes that were served."""
    rows = study.table("account").with_columns(((pl.col("until_ns") - pl.col("from_ns")) / 1e6).alias("ms"))
    order = {str(part): at for at, part in enumerate(Part)}
    shares: dict[str, FloatArray] = {}
    for trial_id, part, ms in rows.group_by("trial_id", "part").agg(pl.col("ms").sum()).iter_rows():
        shares.setdefault(trial_id, np.zeros(len(order)))[order[part]] = ms
    bytes_of = rows.group_by("trial_id").agg(pl.col("size_bytes").sum())
    return shares, dict(bytes_of.iter_rows())


def _waterfall(comparison: Comparison, shares: _Shares, served: Mapping[str, float], alpha: float) -> Waterfall:
    pairs = _pairs(comparison.baseline, comparison.other)
    known = [pair for pair in pairs if all(trial in shares for trial in pair)]
    # (pairs, arms, parts)
    ms = np.array([[shares[trial] for trial in pair] for pair in known]).reshape(len(known), 2, len(Part))
    level = 1 - alpha / len(Part)
    steps = tuple(_step(part, ms[:, 0, at], ms[:, 1, at], level) for at, part in enumerate(Part)) if known else ()
    total = _step(None, ms[:, 0].sum(axis=1), ms[:, 1].sum(axis=1), 1 - alpha)
    bytes_served = np.array([[served[trial] for trial in pair] for pair in known]).reshape(len(known), 2)
    means = bytes_served.mean(axis=0) if known else np.zeros(2)
    lacking = next((trial for pair in pairs for trial in pair if trial not in shares), None)
    return Waterfall(
        comparison, len(known), len(pairs) - len(known), total, steps, (float(means[0]), float(means[1])), lacking
    )


def _pairs(baseline: ArmResult, other: ArmResult) -> list[tuple[str, str]]:
    """Trials of the blocks in which both arms' trials are verified."""
    verified = {trial.block: trial.trial_id for trial in other.trials if trial.status == "verified"}
    return [
        (trial.trial_id, verified[trial.block])
        for trial in baseline.trials
        if trial.status == "verified" and trial.block in verified
    ]


def _step(part: Part | None, baseline: FloatArray, other: FloatArray, level: float) -> Step:
    differences = other - baseline
    if not differences.size:
        return Step(part, np.nan, np.nan, np.nan, None)
    mean = statistics.mean(differences, level)
    return Step(
        part,
        float(baseline.mean()),
        float(other.mean()),
        float(differences.mean()),
        mean.interval if mean else None,
        # Equal times do not differ.
        statistics.signed_rank(differences).p if differences.any() else 1.0,
    )
