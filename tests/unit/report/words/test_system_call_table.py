# SPDX-License-Identifier: Apache-2.0
"""Counts of system calls on the page, and the reasons where there are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.study import read_study
from quiclab.compare.system_calls import read_counts, system_call_data
from quiclab.report.page.write import write_report
from quiclab.report.words.system_call_table import system_call_table

CALLS = {"recvmsg": 900, "read": 60, "write": 20, "mmap": 9, "close": 6, "openat": 4, "execve": 1}
COUNTED: dict[str, Any] = {
    "version": 1,
    "arm": "h3",
    "workload": "1MB",
    "path": "clean",
    "body_bytes": 2_000_000,
    "body_right": True,
    "problem": None,
    "roles": {
        "client": {"program": "curl", "total": 1000, "calls_per_mb": 500.0, "calls": CALLS},
        "server": {"program": "nginx", "unsupported": "it was killed"},
    },
}


def study_with(directory: Path, **arms: dict[str, Any]) -> Path:
    """A small study and what was counted of its arms."""
    study = write_study(directory, Shape(workloads=("1 MB",), paths=("clean",), failures=frozenset()))
    (study / "system-calls").mkdir()
    for arm, counts in arms.items():
        (study / "system-calls" / f"{arm}.json").write_text(json.dumps(counts))
    return study


def test_totals_and_the_most_frequent(tmp_path: Path) -> None:
    """A row per program, arms in the spec's order; a reason where there is no count."""
    counts = read_counts(read_study(study_with(tmp_path, h3=COUNTED, h2={"unsupported": "strace is not installed"})))
    table = system_call_table(counts)
    assert table.rows == (
        ("h2", "–", "–", "–", "unsupported: strace is not installed"),
        ("h3", "client", "1\u2009000", "500", "recvmsg 900, read 60, write 20, mmap 9, close 6"),
        ("h3", "server", "–", "–", "unsupported: it was killed"),
    )
    assert "1MB over clean" in table.note


def test_a_transfer_that_went_wrong_is_marked(tmp_path: Path) -> None:
    """Its counts are of something else than the others'."""
    counted = COUNTED | {"body_right": False, "problem": "the server answered with status 404"}
    rows = system_call_table(read_counts(read_study(study_with(tmp_path, h3=counted)))).rows
    assert "the transfer went wrong: the server answered with status 404" in rows[0][-1]


def test_the_data_have_a_row_per_call(tmp_path: Path) -> None:
    """All calls, not the most frequent alone."""
    data = system_call_data(read_counts(read_study(study_with(tmp_path, h3=COUNTED))))
    assert dict(data.select("call", "calls").rows()) == CALLS
    assert set(data["role"]) == {"client"}


def test_the_page_has_the_table_only_where_it_was_asked_for(tmp_path: Path) -> None:
    """And its data lie beside it."""
    study = write_study(tmp_path / "without", Shape(workloads=("1 MB",), paths=("clean",)))
    assert "<h3>System calls</h3>" not in write_report(study).read_text()
    counted = study_with(tmp_path / "with", h3=COUNTED)
    assert "<h3>System calls</h3>" in write_report(counted).read_text()
    assert pl.read_csv(counted / "report" / "data" / "system_calls.csv").height == len(CALLS)
    assert pl.read_csv(counted / "report" / "data" / "cost.csv").height > 0
