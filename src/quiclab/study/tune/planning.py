# SPDX-License-Identifier: Apache-2.0
"""A search is planned: which arm of a cell, which settings, over which neighbouring networks, and what the minutes
suffice for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import ArmResult, StudyAnalysis
from quiclab.compare.paired import within_pairs
from quiclab.compare.statistics import anytime_p
from quiclab.compare.study_tables import open_study
from quiclab.model.errors import SpecError, nearest
from quiclab.model.number_text import listed
from quiclab.model.study import Study
from quiclab.spec.arms import KNOB_KEYS, TCP_KEYS
from quiclab.spec.counterfactual import PathVariant, Variant
from quiclab.spec.scaled_path import Scaling
from quiclab.spec.two_builds import Build
from quiclab.store.layout import StudyDir
from quiclab.study.confirm.plan import cell_of
from quiclab.study.confirm.variants import Cell, read_back, refuse_what_cannot_run
from quiclab.study.tune.candidates import Candidate, candidates, tried_knobs
from quiclab.study.tune.minutes import least_minutes, shares
from quiclab.study.tune.result import AS_IT_IS, FOLDER
from quiclab.study.tune.search_progress import read_progress
from quiclab.study.tune.tuning_plan import TuneRequest, TuningPlan
from quiclab.why.mechanisms import BY_NAME

_NEIGHBOURS = (
    *(Scaling("rtt", 2.0), Scaling("loss", 2.0), Scaling("rate", 0.5)),
    *(Scaling("rtt", 0.5), Scaling("loss", 0.0), Scaling("rate", 2.0)),
)
"""Neighbouring networks, those first that are checked where not all fit."""


def plan_tuning(request: TuneRequest, study: Study) -> TuningPlan:
    """Plan a search, without writing anything. Raises SpecError for another cell, arm or knob, for a cell that has not
    run, where nothing can be tried, and for minutes that are too few."""
    names = cell_of(study, request.cell)
    analysis = analyse_study(request.study)
    arm, why = _arm(request, analysis)
    _refuse_without_ratios(request.cell, analysis)
    own = next(each for each in study.arms if each.name == arm)
    workload = next(each for each in study.workloads if each.name == names[0])
    cell = Cell(study, Build(StudyDir(request.study).spec, study).document(), workload, names[1], own, own)
    _refuse_unknown_knobs(request.knobs, cell)
    found = _by_time(candidates(cell, ends=request.ends, knobs=request.knobs), request, arm)
    if not found:
        chosen = f"{arm} ({why})" if why else arm
        raise SpecError(
            f"nothing of {chosen} can be tuned: its programs have no such knob, or have its values already",
            "choose other ends, knobs or another --arm; docs/reference/endpoints.md lists which program has which",
        )
    trial_s = _trial_s(request.study, request.cell, arm)
    possible, no_neighbours = _possible_neighbours(cell)
    least = _least_pairs(study.alpha)
    fits = shares(request.minutes, trial_s, len(found), least, len(possible), study.alpha)
    if fits is None:
        needed = least_minutes(trial_s, len(found), least)
        raise SpecError(
            f"{request.minutes:g} minutes are too few: a trial of {arm} takes {trial_s:.1f} s, so that a race and the "
            f"{least} fresh pairs that are the least that decide anything take {needed} minutes",
            f"give --minutes {needed} or more",
        )
    plan = TuningPlan(
        request.study.resolve() / FOLDER,
        cell,
        why,
        found[: fits.settings],
        found[fits.settings :],
        possible[: fits.neighbours],
        possible[fits.neighbours :],
        no_neighbours,
        request.minutes,
        trial_s,
        analysis.metric.name,
        analysis.metric.unit,
        least,
        fits,
    )
    return _placed(plan)


def _refuse_unknown_knobs(knobs: Sequence[str], cell: Cell) -> None:
    """Raise SpecError for a knob that there is not, with the one that is nearest to it, or with those of the arm."""
    known = dict.fromkeys((*KNOB_KEYS, *TCP_KEYS))
    for each in knobs:
        if each not in known:
            hint = nearest(each, known, f"{cell.arm.name} has", tried_knobs(cell))
            raise SpecError(f"there is no knob {each!r}", hint)


def _arm(request: TuneRequest, analysis: StudyAnalysis) -> tuple[str, str]:
    """The arm that is tuned, and why. Raises SpecError for an arm that the cell has not."""
    cell = analysis.cells().get(request.cell)
    results = {each.arm: each for each in (cell.arms if cell else ()) if each.trials}
    if request.arm is not None:
        if request.arm not in results:
            raise SpecError(f"no arm {request.arm!r} has run in {request.cell}", nearest(request.arm, results, "these"))
        return request.arm, ""
    if not results:
        raise SpecError(f"no trial of {request.cell} has run: its times plan the search", "run the study first")
    if len(results) == 1:
        return next(iter(results)), ""
    worst = max(results.values(), key=lambda each: _badness(each, analysis))
    word = "slower" if analysis.metric.name.endswith("_ms") else "worse"
    return worst.arm, f"the {word} one of {len(results)} arms by its median"


def _by_time(found: Sequence[Candidate], request: TuneRequest, arm: str) -> tuple[Candidate, ...]:
    """Settings in turns, as they are found: of each knob its most promising value, then of each the next one. Within a
    turn those go first that move the mechanisms which hold the arm up for longest, by the records of its trials."""
    opened = open_study(request.study)
    held_ms: defaultdict[str, float] = defaultdict(float)
    if "mechanism_facts" in opened.tables:
        own = opened.trials.filter((pl.col("cell_id") == request.cell) & (pl.col("arm") == arm))["trial_id"]
        rows = opened.table("mechanism_facts").filter(pl.col("fact") == "time", pl.col("trial_id").is_in(own.implode()))
        for mechanism, ms in rows.group_by("mechanism").agg(pl.col("value").sum()).iter_rows():
            for key in {each.key for each in BY_NAME[mechanism].settings} if mechanism in BY_NAME else ():
                held_ms[key] += ms
    turns: Counter[frozenset[tuple[str, str]]] = Counter()
    placed = []
    for each in found:
        placed.append((turns[each.keys], -max(held_ms[key] for _, key in each.keys), each))
        turns[each.keys] += 1
    return tuple(each for _, _, each in sorted(placed, key=lambda one: one[:2]))


def _badness(result: ArmResult, analysis: StudyAnalysis) -> float:
    median = float("inf") if result.median is None else result.median
    return median if analysis.metric.lower_is_better else -median


def _refuse_without_ratios(cell_id: str, analysis: StudyAnalysis) -> None:
    """Raise SpecError for a metric that is zero in some trial: there is no per cent of it."""
    for each in analysis.comparisons:
        if each.cell_id == cell_id and not within_pairs(each.baseline, each.other, analysis.metric).has_ratios:
            raise SpecError(
                f"{analysis.metric.name} is 0 in some trials of {cell_id}, so that there is no per cent of it",
                "tune a study whose metric is never 0",
            )


def _trial_s(directory: Path, cell_id: str, arm: str) -> float:
    """Time from the start of a trial of the arm in the cell to that of the next one: the median. Raises SpecError where
    no two trials tell it."""
    opened = open_study(directory)
    if "began_utc" in opened.columns("trials"):
        rows = opened.trials.drop_nulls("began_utc").sort("began_utc")
        began = rows["began_utc"].str.to_datetime(strict=False, time_zone="UTC")
        gaps = rows.with_columns(gap_ms=began.diff().shift(-1).dt.total_milliseconds())
        own = gaps.filter((pl.col("cell_id") == cell_id) & (pl.col("arm") == arm) & (pl.col("gap_ms") > 0))
        median = own["gap_ms"].median()
        if isinstance(median, int | float):
            return float(median) / 1000
    raise SpecError(f"no trials of {arm} in {cell_id} tell how long one takes", "run more blocks of the study")


def _least_pairs(alpha: float) -> int:
    """Fewest pairs with which the sequential test can find a difference."""
    return next(pairs for pairs in range(1, 1000) if anytime_p(-np.ones(pairs)) <= alpha)


def _placed(plan: TuningPlan) -> TuningPlan:
    """The plan in the folder of a search that was ended and asked the same, or in one with the next number."""
    stem, number, passed_over = f"{plan.cell.name.replace('/', '-')}-{plan.cell.arm.name}", 1, ""
    while (place := plan.directory / f"{stem}-{number}").exists():
        before = read_progress(place)
        passed_over = ""
        if before is not None and not before.ended:
            other = before.differs_in(plan.asked)
            if not other:
                return replace(plan, directory=place, progress=before)
            passed_over = f"{FOLDER}/{place.name}: it differs in {listed(other)}"
        number += 1
    return replace(plan, directory=place, passed_over=passed_over)


def _possible_neighbours(cell: Cell) -> tuple[tuple[Scaling, ...], tuple[str, ...]]:
    """Neighbouring networks that the cell's path has, and why it has no others, each reason once."""
    possible, reasons = [], []
    for scaling in _NEIGHBOURS:
        try:
            path = PathVariant("neighbour", scaling=scaling)
            _, study = read_back(cell, [Variant(AS_IT_IS, cell.arm.name)], [path], {"name": "n", "seed": 0})
            refuse_what_cannot_run(study, cell.workload.name)
        except SpecError as error:
            reasons.append(f"{scaling}: {error.message}")
        else:
            possible.append(scaling)
    return tuple(possible), tuple(reasons)
