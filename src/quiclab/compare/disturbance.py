# SPDX-License-Identifier: Apache-2.0
"""Ends of a trial's value: the least and the most that it may be without the time that the laboratory added.

Of a trial that counts the laboratory predicts what it cost at most: metric `disturbance_most_ms`. A time may be longer
by all of it, a rate lower by its share in the whole time. Counts, sizes, shares and processor time are left as they
are. Trials that were disturbed by more were repeated, and how long a trial takes may have a say in that. So their times
less the predicted cost are held against those of the trials that count, and what the typical time of both together is
off belongs to what is not known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from quiclab.compare.model import Metric, Selection, TrialResult
from quiclab.compare.study import Study, read_record
from quiclab.evidence.metrics import MS_PER_UNIT, RATE, declared
from quiclab.store.layout import WITH_ITS_BLOCK, StudyDir

MOST_MS = "disturbance_most_ms"
"""The metric that says what the laboratory added to a trial at most."""
MOST_SHARE = 0.95
"""Share of a value that the disturbance may make up: something is left, so that values keep their logarithms."""


@dataclass(frozen=True)
class StoredDisturbance:
    """Time that the laboratory added to a trial, as its trial.json has it."""

    time_ns: float
    """Time that the trial took."""
    cost_ns: float
    """Predicted part of it that the laboratory added."""
    bound_ns: float
    """Most that `cost_ns` may be in a trial that counts; infinite if trial.json has none."""

    @property
    def undisturbed_ns(self) -> float:
        """Time that it would have taken."""
        return self.time_ns - self.cost_ns


def stored_disturbance(folder: Path) -> StoredDisturbance | None:
    """The disturbance of the attempt in this folder; None where its trial.json does not tell."""
    try:
        written_ns = (folder / "trial.json").lstat().st_mtime_ns
    except OSError:
        return None
    return _read(folder, written_ns)


@functools.lru_cache(4096)
def _read(folder: Path, _written_ns: int) -> StoredDisturbance | None:
    """The disturbance by a trial.json written at this instant: a report asks for it with every metric."""
    found = read_record(folder).disturbance
    if found is None or not 0 <= found.cost_ns < found.time_ns:
        return None
    return StoredDisturbance(float(found.time_ns), float(found.cost_ns), float(found.bound_ns))


def with_most(study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    """The attempts with a column `most_ms`: what the laboratory added at most to the trial, null where not known."""
    most = study.metrics.filter(pl.col("name") == MOST_MS).select("trial_id", most_ms="value").unique("trial_id")
    return rows.join(most, on="trial_id", how="left")


def is_delayed(metric: Metric) -> bool:
    """True of a metric in which a delay of the transfer shows, so that what the laboratory added makes it uncertain."""
    known = declared(metric.name)
    return known.feels_delays if known is not None else metric.unit in (*MS_PER_UNIT, RATE)


def with_ends(
    study: Study, trials: Sequence[TrialResult], attempts: pl.DataFrame, metric: Metric
) -> tuple[list[TrialResult], Selection | None]:
    """The trials of an arm in a cell with the ends of their values, and what its repeats (`attempts` has them) select;
    `attempts` have the column `most_ms` (`with_most`)."""
    if not is_delayed(metric):
        return list(trials), None
    found = selection_of(study, trials, attempts)
    most = dict(attempts.select("trial_id", "most_ms").rows())
    return [
        _with_ends(study, each, most.get(each.trial_id) or 0.0, found.shift_pct if found else 0.0, metric)
        for each in trials
    ], found


def _with_ends(study: Study, trial: TrialResult, most_ms: float, shift_pct: float, metric: Metric) -> TrialResult:
    if trial.value is None or trial.value < 0 or not (most_ms > 0 or shift_pct):
        return trial
    return between(trial, _added(study, trial, max(0.0, most_ms), metric), shift_pct, metric)


def between(trial: TrialResult, added: float, shift_pct: float, metric: Metric) -> TrialResult:
    """The trial with the ends of its value: the laboratory `added` at most this share of it (of a rate: of the whole
    time), and the typical time of its arm would grow by `shift_pct` if repeated attempts counted in their blocks."""
    if trial.value is None:
        return trial
    value, added, slower = trial.value, min(added, MOST_SHARE), 1 + shift_pct / 100
    if metric.unit == RATE:
        low, high, slower = value, value / (1 - added), 1 / slower
    elif metric.lower_is_better:
        low, high = value * (1 - added), value
    else:
        low, high = value, value * (1 + added)
    low, high = low * min(1.0, slower), high * max(1.0, slower)
    return replace(trial, least=low if low < value else None, most=high if high > value else None)


def _added(study: Study, trial: TrialResult, most_ms: float, metric: Metric) -> float:
    """The share of a value that the laboratory may have added: of a rate that in the trial's whole time."""
    if not most_ms or not trial.value:
        return 0.0
    if metric.unit != RATE:
        return most_ms / (trial.value * MS_PER_UNIT[metric.unit])
    found = stored_disturbance(StudyDir(study.directory).trial(trial.trial_id))
    return 1e6 * most_ms / found.time_ns if found is not None else 0.0


def selection_of(study: Study, trials: Sequence[TrialResult], attempts: pl.DataFrame) -> Selection | None:
    """Compare the repeated attempts of an arm in a cell with the trials that count, in their undisturbed times; None
    where there is nothing to compare.

    An attempt that was repeated for its own fault counts if that was the disturbance; one that was repeated for another
    trial of its block always does.
    """
    folders = StudyDir(study.directory)
    repeated: dict[int, list[float]] = {}
    for row in attempts.filter(pl.col("status") == "void").iter_rows(named=True):
        found = stored_disturbance(folders.failed(row["trial_id"], row["attempt"]))
        if found is not None and (row["reason"] in WITH_ITS_BLOCK or found.cost_ns > found.bound_ns):
            repeated.setdefault(row["block"], []).append(found.undisturbed_ns)
    if not repeated:
        return None
    counted = {
        each.block: found.undisturbed_ns
        for each in trials
        if each.status == "verified" and (found := stored_disturbance(folders.trial(each.trial_id))) is not None
    }
    return selection(counted, repeated)


def selection(counted: Mapping[int, float], repeated: Mapping[int, Sequence[float]]) -> Selection | None:
    """Compare the undisturbed times of trials that count, by block, with those of repeated attempts of the same blocks;
    None without any.

    The first attempt of a block is chosen by nothing. Where it was repeated, the mean of all that were repeated there
    is expected to be what it was, and varies less. Blocks differ, as by their losses: that slow ones are repeated more
    often chooses nothing.
    """
    again = {block: np.log(times) for block, times in repeated.items() if block in counted and len(times)}
    if not again:
        return None
    slower = sum(float(times.mean()) - math.log(counted[block]) for block, times in again.items())
    return Selection(sum(map(len, again.values())), 100 * math.expm1(slower / len(counted)))
