# SPDX-License-Identifier: Apache-2.0
"""Logs that contradict what is known of a program."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from specs import changed, study_of

from quiclab.model.study import Study
from quiclab.model.tables import TABLES
from quiclab.plan.make import make_plan
from quiclab.store.layout import StudyDir
from quiclab.study.contradicted import contradicted
from quiclab.study.specs import keep_versions

VERSIONS = {"server quinn": "0.11.12"}
CUBIC = [12_000, 24_000, 48_000, 33_600, 40_000, 28_000, 30_000, 21_000]
"""Windows of quinn as it is: ten packets first, 0.7 after a loss."""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Two blocks, quinn over HTTP/3."""
    before, _, after = changed(("blocks = 4", "blocks = 7")).rpartition('server = "caddy"')
    return study_of(tmp_path, f'{before}server = "quinn"{after}')


def _logged(folder: Path, study: Study, windows: list[int], **columns: object) -> StudyDir:
    """A study's directory in which each trial of h3 has a log with these windows."""
    study_dir = StudyDir(folder / "study")
    place = study_dir.tables / "transport_metrics"
    place.mkdir(parents=True)
    for row in make_plan(study):
        if row.arm_name == "h3":
            rows = [
                {"vantage": "server", "transport": "quic", "estimate": False, "source": "s.qlog", "connection": "c"}
                | {"time_ns": number, "cwnd_bytes": window}
                | columns
                for number, window in enumerate(windows)
            ]
            table = TABLES["transport_metrics"].empty()
            frame = pl.DataFrame(rows, schema_overrides={name: table.schema[name] for name in rows[0]})
            pl.concat([table, frame], how="diagonal").write_parquet(place / f"{row.trial_id}.parquet")
    return study_dir


def test_a_log_that_agrees_is_not_worth_a_word(study: Study, tmp_path: Path) -> None:
    """Nor is one of another end, nor what was guessed from packets."""
    assert contradicted(_logged(tmp_path, study, CUBIC), study, VERSIONS, make_plan(study)) == ()
    for name, columns in (
        ("client", {"vantage": "client"}),
        ("guess", {"estimate": True}),
        ("tcp", {"transport": "tcp"}),
    ):
        other = _logged(tmp_path / name, study, [99_000, 1_000], **columns)
        assert contradicted(other, study, VERSIONS, make_plan(study)) == ()


def test_another_window_and_another_reduction_are_told(study: Study, tmp_path: Path) -> None:
    """With both numbers, where the arms are described; a timeout's fall to the least window is no reduction."""
    halved = [40_000, 80_000, 40_000, 60_000, 30_000, 2_400]
    study_dir = _logged(tmp_path, study, halved)
    found = contradicted(study_dir, study, VERSIONS, make_plan(study))
    assert len(found) == 2
    assert found[0] == (
        "Arm h3, server quinn: its first window is 40,000 bytes by its log, and 12,000 by what quiclab knows of it."
    )
    assert "a loss leaves 0.50 of its window by its log, and 0.7 by what quiclab knows of it" in found[1]
    study_dir.resolved.write_text(json.dumps({"arms_summary": {"text": "old"}, "name": "s"}))
    keep_versions(study_dir, study, VERSIONS, found)
    kept = json.loads(study_dir.resolved.read_text())
    assert kept["name"] == "s"
    assert f"But logs contradict this. {found[0]} {found[1]}" in kept["arms_summary"]["text"]
