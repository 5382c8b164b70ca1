# SPDX-License-Identifier: Apache-2.0
"""System calls that were counted beside a trial are metrics of it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from quiclab.model.tables import OF_STUDY
from quiclab.store.layout import StudyDir
from quiclab.study.counted_metrics import with_counts

_WAS = "not counted"


def _metrics() -> pl.DataFrame:
    """Three metrics of two trials, as their own tables have them."""
    names = ("ttlb_ms", "client_system_calls", "server_system_calls")
    rows = [
        {"trial_id": trial_id, "name": name, "value": 7.0 if name == "ttlb_ms" else None, "unit": "", "better": "lower"}
        | {"note": None if name == "ttlb_ms" else _WAS}
        for trial_id in ("a", "b")
        for name in names
    ]
    return pl.DataFrame(rows, OF_STUDY["metrics"].schema())


def _counted(tmp_path: Path, **changed: object) -> dict[str, tuple[float | None, str | None]]:
    """Metrics of trial `a` when its counts are kept; those of trial `b` stay what they were."""
    study_dir = StudyDir(tmp_path)
    roles = {"client": {"total": 1500}, "server": {"total": 1640}}
    file = study_dir.system_calls_beside("a")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"body_right": True, "problem": None, "roles": roles} | changed))
    before = _metrics()
    found = with_counts(study_dir, before)
    assert found.filter(pl.col("trial_id") == "b").equals(before.filter(pl.col("trial_id") == "b"))
    assert found.select("trial_id", "name", "unit", "better").equals(
        before.select("trial_id", "name", "unit", "better")
    )
    return {row["name"]: (row["value"], row["note"]) for row in found.filter(pl.col("trial_id") == "a").to_dicts()}


def test_counts_are_values_of_their_trial(tmp_path: Path) -> None:
    """Other metrics of it stay."""
    found = _counted(tmp_path)
    assert found["ttlb_ms"] == (7.0, None)
    assert found["client_system_calls"] == (1500.0, None)
    assert found["server_system_calls"] == (1640.0, None)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"unsupported": "strace is not installed", "roles": {}}, "strace is not installed"),
        ({"body_right": False, "problem": "timeout"}, "the transfer in which they were counted went wrong: timeout"),
        ({"roles": {"server": {"total": 1}}}, "the client was not counted"),
        ({"roles": {"client": {"unsupported": "it was killed"}}}, "it was killed"),
    ],
)
def test_calls_that_were_not_counted_well_are_unknown(tmp_path: Path, changed: dict[str, object], told: str) -> None:
    """The reason stands beside them, and no pair has them."""
    assert _counted(tmp_path, **changed)["client_system_calls"] == (None, told)


def test_a_file_that_is_not_of_its_form_changes_nothing(tmp_path: Path) -> None:
    """A study without any count keeps its metrics, too."""
    assert with_counts(StudyDir(tmp_path), _metrics()).equals(_metrics())
    assert _counted(tmp_path, roles=3)["client_system_calls"] == (None, _WAS)
