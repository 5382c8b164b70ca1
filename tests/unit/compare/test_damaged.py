# SPDX-License-Identifier: Apache-2.0
"""A damaged trial has no result, and everybody is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.study import Study, read_study
from quiclab.report.page.validity import trust_tables
from quiclab.report.words.terminal import render

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("loss",), failures=frozenset(), voids=frozenset())


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """One with a damaged trial."""
    directory = write_study(tmp_path, SHAPE)
    file = directory / "tables" / "trials.parquet"
    hurt = (pl.col("kind") == "main") & (pl.col("arm") == "h3") & (pl.col("block") == 4)
    trials = pl.read_parquet(file)
    told = [pl.when(hurt).then(pl.lit(text)).otherwise(name).alias(name) for name, text in
            (("status", "damaged"), ("reason", "raw/client.pcapng is missing"))]  # fmt: skip
    trials.with_columns(told).write_parquet(file)
    return read_study(directory)


def test_it_makes_no_pair(study: Study) -> None:
    """Not one that failed, not one that is unmeasured: none."""
    (cell,) = analyse(study).comparisons
    assert cell.pairs == 8
    assert (cell.other.damaged, cell.other.failures, cell.other.unmeasured) == (1, 0, 0)
    assert cell.baseline.damaged == 0


def test_the_terminal_names_it(study: Study) -> None:
    """Where it stood, and what is wrong."""
    console = Console(width=2000, record=True, quiet=True)
    with console.capture() as told:
        console.quiet = False
        render(analyse(study), console)
    assert "h3: 1 damaged of 9 attempts" in told.get()
    assert "block 4: raw/client.pcapng is missing" in told.get()
    assert "No trial failed" not in told.get()


def test_the_page_lists_it(study: Study) -> None:
    """Among what can be trusted, and counted there."""
    tables = {table.title: table for table in trust_tables(study, analyse(study))}
    ((_, cell, arm, block, wrong),) = tables["Damaged trials"].rows
    assert (cell, arm, block, wrong) == ("100 KB/loss", "h3", "4", "raw/client.pcapng is missing")
    counts = {row[0]: row for row in tables["Trials"].rows if row[1] == "main"}
    found = dict(zip(tables["Trials"].headings, counts["h3"], strict=True))
    assert (found["verified"], found["damaged"]) == ("8", "1")


def test_without_one_nothing_is_said(tmp_path: Path) -> None:
    """No table for what is not there."""
    whole = read_study(write_study(tmp_path, SHAPE))
    assert "Damaged trials" not in {table.title for table in trust_tables(whole, analyse(whole))}
    assert not [note for note in analyse(whole).notes if "Damaged" in note]
