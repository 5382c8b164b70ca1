# SPDX-License-Identifier: Apache-2.0
"""What programs cost, as the page shows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.cost import cost_data
from quiclab.compare.study import read_study
from quiclab.model.text_table import TextTable
from quiclab.report.figures.cost import NOT_MEASURED
from quiclab.report.words.cost_table import cost_table

SHAPE = replace(
    Shape(),
    workloads=("1 MB",),
    paths=("clean",),
    failures=frozenset({("clean/1 MB", "h2", 3)}),
    voids=frozenset(),
)


def table(directory: Path) -> TextTable:
    """Of a study directory."""
    study = read_study(directory)
    return cost_table(cost_data(study), analyse(study))


def changed(directory: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A study whose every trial.json was changed."""
    for file in write_study(directory, SHAPE).glob("trials/*/trial.json"):
        document = json.loads(file.read_text())
        change(document)
        file.write_text(json.dumps(document))
    return directory


def test_medians_per_cell_arm_and_program(tmp_path: Path) -> None:
    """Of verified main trials: one of nine failed, and the A/A trials are not among them."""
    assert [row for row in table(write_study(tmp_path, SHAPE)).rows if row[1] == "h2"] == [
        ("nothing added, 1 MB", "h2", "client", "8", "100 ms", "75.0 ms", "25.0 ms", "20.0 MB", "103", "42", "3"),
        ("nothing added, 1 MB", "h2", "server", "8", "200 ms", "150 ms", "50.0 ms", "40.0 MB", "103", "42", "6"),
    ]


def test_what_a_trial_does_not_tell_is_not_zero(tmp_path: Path) -> None:
    """No look at the transfer, no thread: told as such, beside what is known."""

    def forget(document: dict[str, Any]) -> None:
        document["host"]["cost"]["client"] |= {"transfer": None}
        del document["host"]["cost"]["server"]["most_threads"]

    client, server = table(changed(tmp_path, forget)).rows[:2]
    assert client[4:] == (NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, "20.0 MB", NOT_MEASURED, NOT_MEASURED, "3")
    assert server[-1] == NOT_MEASURED


def test_a_few_ticks_divide_nothing(tmp_path: Path) -> None:
    """User and system are counted in steps of 10 ms: below 50 ms in all they are not told; the CPU time is exact."""

    def shorten(document: dict[str, Any]) -> None:
        document["host"]["cost"]["client"]["transfer"] |= {"cpu_ns": 4_000_000, "user_ns": 10_000_000, "system_ns": 0}

    client = table(changed(tmp_path, shorten)).rows[0]
    assert client[4:7] == ("4.00 ms", NOT_MEASURED, NOT_MEASURED)


def test_without_any_cost_the_table_is_empty(tmp_path: Path) -> None:
    """Trials of an older version did not look."""
    found = table(changed(tmp_path, lambda document: document["host"].pop("cost")))
    assert (found.rows, found.empty) == ((), "No trial recorded what its programs cost.")


def test_the_data_have_a_row_per_trial_and_program(tmp_path: Path) -> None:
    """In plain units."""
    data = cost_data(read_study(write_study(tmp_path, SHAPE)))
    assert data.height == (9 + 8) * 2
    first = data.filter((pl.col("arm") == "h3") & (pl.col("role") == "server")).row(0, named=True)
    assert (first["user_s"], first["system_s"], first["block"]) == (0.15, 0.05, 0)


def test_the_switches_of_a_browser_are_not_told(tmp_path: Path) -> None:
    """Its processor time is, and all of its server."""
    directory = changed(tmp_path, lambda document: document.update(client={"versions": {"chromium": "1"}}))
    client, server = (row for row in table(directory).rows if row[1] == "h2")
    assert (client[4], client[8]) == ("100 ms", NOT_MEASURED)
    assert server[8] == "103"
