# SPDX-License-Identifier: Apache-2.0
"""Tables of one trial to its metrics: (trial, name, value, unit, better), null with a note where it cannot be told.

A metric is one declaration in the file of its family, and one line of `_registry.py`; `evidence.py` is what it is
computed from, `measured_flow.py` says whose packets count.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from quiclab.evidence.metrics._api import MS_PER_UNIT, RATE, Metric, MetricRow, Noted
from quiclab.evidence.metrics._registry import METRICS, declared, title_of
from quiclab.evidence.metrics.bytes_acknowledged import bytes_acknowledged
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.flows import flow_throughput, flows
from quiclab.evidence.metrics.head_of_line import delivery_waits
from quiclab.evidence.metrics.measured_flow import measured_tables
from quiclab.evidence.metrics.order import object_runs
from quiclab.evidence.metrics.page import page_progress
from quiclab.evidence.metrics.unacknowledged import unacknowledged
from quiclab.evidence.metrics.video import video_throughput
from quiclab.model.trial_record import TrialRecord

__all__ = [
    "METRICS",
    "MS_PER_UNIT",
    "RATE",
    "Evidence",
    "Metric",
    "MetricRow",
    "Noted",
    "Unknown",
    "compute_trial",
    "declared",
    "evidence_of",
    "made_tables",
    "metrics_of",
    "title_of",
]


def compute_trial(trial_dir: Path, tables: Mapping[str, pl.DataFrame], trial: TrialRecord) -> list[MetricRow]:
    """Every metric of one trial, in the order of `METRICS`.

    `tables` are those of `quiclab.logs.decoders.decode_trial`, `trial` is its record.
    """
    return metrics_of(evidence_of(tables, trial), trial.trial_id or trial_dir.name)


def evidence_of(tables: Mapping[str, pl.DataFrame], trial: TrialRecord) -> Evidence:
    """Evidence that metrics see of a trial: the measured client's tables, and what each of several flows got."""
    several = {"flows": flows(tables, trial), "flow_throughput": flow_throughput(tables, trial)}
    return Evidence({**measured_tables(tables, trial), **several}, trial)


def made_tables(evidence: Evidence) -> dict[str, pl.DataFrame]:
    """The tables of one trial that are made of others, by name."""
    return {
        "bytes_acknowledged": bytes_acknowledged(evidence),
        "unacknowledged": unacknowledged(evidence),
        "page_progress": page_progress(evidence),
        "video_throughput": video_throughput(evidence),
        "flow_throughput": evidence.tables["flow_throughput"],
        "flows": evidence.tables["flows"],
        "object_runs": object_runs(evidence),
        "delivery_waits": delivery_waits(evidence),
    }


def metrics_of(evidence: Evidence, trial_id: str) -> list[MetricRow]:
    """Every metric of one trial, in the order of `METRICS`."""
    return [_row(trial_id, metric, evidence) for metric in METRICS]


def _row(trial_id: str, metric: Metric, evidence: Evidence) -> MetricRow:
    value: float | None = None
    try:
        found = metric.compute(evidence)
        value, note = (found.value, found.note) if isinstance(found, Noted) else (found, None)
    except Unknown as unknown:
        note = str(unknown)
    return MetricRow(trial_id, metric.name, None if value is None else float(value), metric.unit, metric.better, note)
