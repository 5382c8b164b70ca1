# SPDX-License-Identifier: Apache-2.0
"""The cell, block, arm and factor that a figure is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.model.errors import SpecError
from quiclab.report.figures import FIGURES, Asked

SHAPE = replace(Shape(), workloads=("100 KB", "1 MB"), paths=("loss",), failures=frozenset(), voids=frozenset())


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of two cells, without logs."""
    return write_study(tmp_path_factory.mktemp("study"), SHAPE)


def test_a_block_can_be_chosen(directory: Path) -> None:
    """The trials are that block's."""
    asked = Asked(open_study(directory), analyse_study(directory), "1 MB/loss", 3)
    trials = open_study(directory).trials.filter(pl.col("trial_id").is_in(list(asked.chosen().trials.values())))
    assert set(trials["block"]) == {3}
    assert set(trials["cell_id"]) == {"1 MB/loss"}


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("window", {"cell": "2 GB/moon"}, "no cell"),
        ("distributions", {"cell": "2 GB/moon"}, "no cell"),
        ("window", {"block": 99}, "no trial in block 99"),
        ("differences", {"other": "h4"}, "no arm 'h4'"),
        ("factor", {"factor": "rate"}, "differ in 'rate' alone"),
    ],
)
def test_what_the_study_lacks_is_told(directory: Path, name: str, asked: dict[str, Any], told: str) -> None:
    """One sentence, with what there is."""
    figure = next(each for each in FIGURES if each.name == name)
    with pytest.raises(SpecError, match=told):
        figure.gather(Asked(open_study(directory), analyse_study(directory), **asked))
