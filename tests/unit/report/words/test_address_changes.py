# SPDX-License-Identifier: Apache-2.0
"""Changes of address are counted by what became of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.study import read_study
from quiclab.report.words.address_changes import address_change_tables

SHAPE = replace(
    Shape(), workloads=("100 KB",), paths=("loss",), failures=frozenset({("loss/100 KB", "h3", 3)}), voids=frozenset()
)


def _moved(directory: Path) -> None:
    """Every trial's address changed: H3 migrated but for one that nobody could open, H2 reconnected."""
    resolved = json.loads((directory / "resolved.json").read_text())
    resolved["workloads"][0]["address_change"] = {"after_bytes": 40_000}
    (directory / "resolved.json").write_text(json.dumps(resolved))
    unproven = True
    for row in read_study(directory).trials.filter(pl.col("kind") == "main").iter_rows(named=True):
        failed = row["status"] == "failed"
        name = f"failed/{row['trial_id']}-attempt{row['attempt']}" if failed else f"trials/{row['trial_id']}"
        file = directory / name / "trial.json"
        record = json.loads(file.read_text()) if file.is_file() else {}
        record["address_change"] = {"changed_ns": 5, "reached_ns": None}
        record["asked"] = {"migration": "active" if row["arm"] == "h3" else None}
        record["proof"] = {"migrated": "unproven" if row["arm"] == "h3" and unproven and not failed else True}
        unproven = unproven and (row["arm"] != "h3" or failed)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record))


def test_what_became_of_them(tmp_path: Path) -> None:
    """Failed migrations are counted, never dropped."""
    directory = write_study(tmp_path / "study", SHAPE)
    _moved(directory)
    (table,) = address_change_tables(read_study(directory))
    counts = {row[0]: dict(zip(table.headings, row, strict=True)) for row in table.rows}
    main = read_study(directory).trials.filter(pl.col("kind") == "main")
    trials = {arm: main.filter(pl.col("arm") == arm).height for arm in ("h2", "h3")}
    assert (counts["h2"]["reconnected"], counts["h2"]["failed"]) == (str(trials["h2"]), "0")
    told = [counts["h3"][name] for name in ("migrated", "unproven", "failed", "gap")]
    assert told == [str(trials["h3"] - 2), "1", "1", "–"]


def test_no_table_where_every_address_is_stable(tmp_path: Path) -> None:
    """A report says nothing of what was not asked."""
    assert address_change_tables(read_study(write_study(tmp_path / "study", SHAPE))) == []
