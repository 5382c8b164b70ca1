# SPDX-License-Identifier: Apache-2.0
"""The curves of a report's pair selector: which trials belong together, and their points, thinned and packed."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.model import MeasuredCell, StudyAnalysis
from quiclab.compare.study import BYTES_ACKNOWLEDGED, read_table

FloatArray = npt.NDArray[np.float64]

POINTS_IN_ALL = 200_000
"""Points of all curves on the page: about 2 MB. The whole of the data lies beside it."""
POINTS_PER_CURVE = (60, 800)


def bytes_acknowledged(directory: Path, trials: pl.DataFrame) -> pl.DataFrame:
    """Return every ACK of the verified main trials in `trials` (of `distributions`), as far as their tables exist."""
    curves = [pl.DataFrame(schema={"trial_id": pl.String, **BYTES_ACKNOWLEDGED})]
    if trials.height:
        for trial_id in trials.filter((pl.col("kind") == "main") & (pl.col("status") == "verified"))["trial_id"]:
            path = directory / "tables" / "bytes_acknowledged" / f"{trial_id}.parquet"
            curve = read_table(path, BYTES_ACKNOWLEDGED, []).drop_nulls().drop_nans().sort("x_ms")
            curves.append(curve.select(pl.lit(trial_id).alias("trial_id"), "x_ms", "bytes"))
    return pl.concat(curves)


class PairView(TypedDict):
    """Trials of a cell that are shown together."""

    title: str
    block: int | None
    """Number of the block; of the median trials it is None."""
    trials: dict[str, str]
    """Arm → trial."""
    page: NotRequired[str | None]
    """File of their own page."""


class CellViews(TypedDict):
    """Views of a cell: the median trial of each arm first, then each block."""

    cell_id: str
    title: str
    views: list[PairView]


class Selector(TypedDict):
    """The pair selector, as the page's script reads it."""

    arms: list[str]
    cells: list[CellViews]
    open: int
    """Place of the cell with the largest significant difference: there is most to see."""
    curves: dict[str, dict[str, object]]
    """Trial → its packed curve."""


def selector(analysis: StudyAnalysis, acknowledged: pl.DataFrame) -> Selector | None:
    """Cells with their blocks and median trials, and a packed curve per trial; None where there is no curve."""
    by_trial = {str(key[0]): curve for key, curve in acknowledged.group_by("trial_id", maintain_order=True)}
    if not by_trial:
        return None
    low, high = POINTS_PER_CURVE
    budget = min(high, max(low, POINTS_IN_ALL // len(by_trial)))
    entries = [_cell(cell, analysis, set(by_trial)) for cell in analysis.cells().values()]
    entries = [entry for entry in entries if entry["views"]]
    largest = analysis.most_different
    return {
        "arms": analysis.arms,
        "cells": entries,
        "open": next((place for place, entry in enumerate(entries) if entry["cell_id"] == largest), 0),
        "curves": {trial_id: _packed(curve, budget) for trial_id, curve in by_trial.items()},
    }


def _cell(cell: MeasuredCell, analysis: StudyAnalysis, known: set[str]) -> CellViews:
    arms = cell.arms
    medians = {arm.arm: arm.median_trial.trial_id for arm in arms if arm.median_trial}
    views: list[PairView] = [{"title": "median trial of each arm", "block": None, "trials": medians}]
    for block in sorted({trial.block for arm in arms for trial in arm.trials}):
        trials = {arm.arm: trial.trial_id for arm in arms for trial in arm.trials if trial.block == block}
        views.append({"title": f"block {block}", "block": block, "trials": trials})
    for view in views:
        view["trials"] = {arm: trial_id for arm, trial_id in view["trials"].items() if trial_id in known}
    return {
        "cell_id": cell.place.cell_id,
        "title": comparison_words.cell_name(cell.place, analysis),
        "views": [view for view in views if view["trials"]],
    }


def thinned(x: FloatArray, limit: int) -> npt.NDArray[np.int64]:
    """Indices of at most `limit` points that keep a step curve's look: evenly spread ones, and ends of long waits."""
    if x.size <= limit:
        return np.arange(x.size)
    spread = np.linspace(0, x.size - 1, limit // 2).astype(np.int64)
    waits = np.argsort(np.diff(x))[-(limit // 4) :]
    return np.unique(np.concatenate([spread, waits, waits + 1]))


def _packed(curve: pl.DataFrame, limit: int) -> dict[str, object]:
    """The points that are drawn, and how many there are."""
    x, y = curve["x_ms"].to_numpy(), curve["bytes"].to_numpy()
    keep = thinned(x, limit)
    columns = {
        axis: base64.b64encode(values[keep].astype("<f4").tobytes()).decode() for axis, values in (("x", x), ("y", y))
    }
    return {**columns, "of": x.size}
