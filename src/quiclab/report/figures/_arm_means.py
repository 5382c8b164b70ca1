# SPDX-License-Identifier: Apache-2.0
"""Means and standard deviations of the arms of a study, those through a proxy beside their direct twins."""

from __future__ import annotations

import json
from collections.abc import Mapping

import polars as pl

from quiclab.compare.model import ArmResult, StudyAnalysis
from quiclab.compare.program_factors import shared_name
from quiclab.compare.study import Study

SCHEMA = {
    **dict.fromkeys(("panel", "group", "arm", "way", "metric_title", "unit"), pl.String),
    **dict.fromkeys(("mean", "sd"), pl.Float64),
    **dict.fromkeys(("trials", "failed"), pl.Int64),
}
DIRECT, PROXIED = "direct", "through a proxy"


def places(study: Study) -> dict[str, tuple[str, str]]:
    """Arm → (what it is called whether it has a proxy or not, which of both it is).

    Arms are each other's twins where protocol and client are the same to the last knob, and each way has one.
    """
    arms = study.tables("arms", compared=False)
    twins: dict[str, dict[str, list[str]]] = {}
    for arm in arms:
        key = json.dumps([arm.get("protocol"), arm.get("client")], sort_keys=True)
        way = PROXIED if arm.get("proxy") else DIRECT
        twins.setdefault(key, {DIRECT: [], PROXIED: []})[way].append(str(arm["name"]))
    found = {}
    for ways in twins.values():
        paired = all(len(names) == 1 for names in ways.values())
        for way, names in ways.items():
            for name in names:
                found[name] = (shared_name([ways[DIRECT][0], ways[PROXIED][0]]) or name if paired else name, way)
    return {str(arm["name"]): found[str(arm["name"])] for arm in arms}


def means(analysis: StudyAnalysis, places: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    rows: dict[tuple[str, str, str], dict[str, object]] = {}
    for comparison in analysis.comparisons:
        for arm in (comparison.baseline, comparison.other):
            if arm.arm in places:
                label, way = places[arm.arm]
                rows[comparison.path, comparison.workload, arm.arm] = {
                    "panel": analysis.path_titles.get(comparison.path, comparison.path),
                    "group": analysis.workload_titles.get(comparison.workload, comparison.workload),
                    "arm": label,
                    "way": way,
                    **_numbers(arm),
                    "metric_title": analysis.metric.title,
                    "unit": analysis.metric.unit,
                }
    frame = pl.DataFrame(list(rows.values()), schema=SCHEMA)
    order = {label: place for place, label in enumerate(dict.fromkeys(label for label, _ in places.values()))}
    return (
        frame.sort(
            pl.col("panel").replace_strict(
                {panel: i for i, panel in enumerate(frame["panel"].unique(maintain_order=True))}
            ),
            pl.col("group").replace_strict(
                {name: i for i, name in enumerate(frame["group"].unique(maintain_order=True))}
            ),
            pl.col("arm").replace_strict(order),
            "way",
        )
        if frame.height
        else frame
    )


def _numbers(arm: ArmResult) -> dict[str, object]:
    values = [trial.value for trial in arm.trials if trial.value is not None]
    series = pl.Series(values, dtype=pl.Float64)
    return {"mean": series.mean(), "sd": series.std(), "trials": len(values), "failed": arm.failures}
