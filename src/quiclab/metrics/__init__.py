# SPDX-License-Identifier: Apache-2.0
"""Tables of one trial to its metrics: (trial, name, value, unit, better), null with a note where it cannot be told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from quiclab.metrics._api import Metric, MetricRow, Noted
from quiclab.metrics._registry import METRICS, declared, title_of
from quiclab.metrics.bytes_acknowledged import bytes_acknowledged
from quiclab.metrics.evidence import Evidence, Unknown
from quiclab.metrics.flows import flow_throughput, flows
from quiclab.metrics.measured import measured_tables
from quiclab.metrics.order import object_runs
from quiclab.metrics.page import page_progress
from quiclab.metrics.video import video_throughput

__all__ = [
    "METRICS",
    "Metric",
    "MetricRow",
    "Noted",
    "bytes_acknowledged",
    "compute_trial",
    "declared",
    "flow_throughput",
    "flows",
    "object_runs",
    "page_progress",
    "title_of",
    "video_throughput",
]


def compute_trial(trial_dir: Path, tables: Mapping[str, pl.DataFrame], trial: Mapping[str, Any]) -> list[MetricRow]:
    """Every metric of one trial, in the order of `METRICS`.

    `tables` are those of `quiclab.decoders.decode_trial`, `trial` is the content of `trial.json`.
    """
    several = {"flows": flows(tables, trial), "flow_throughput": flow_throughput(tables, trial)}
    evidence = Evidence({**measured_tables(tables, trial), **several}, trial)
    trial_id = str(trial.get("trial_id", trial_dir.name))
    return [_row(trial_id, metric, evidence) for metric in METRICS]


def _row(trial_id: str, metric: Metric, evidence: Evidence) -> MetricRow:
    value: float | None = None
    try:
        found = metric.compute(evidence)
        value, note = (found.value, found.note) if isinstance(found, Noted) else (found, None)
    except Unknown as unknown:
        note = str(unknown)
    return MetricRow(trial_id, metric.name, None if value is None else float(value), metric.unit, metric.better, note)
