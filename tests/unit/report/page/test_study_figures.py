# SPDX-License-Identifier: Apache-2.0
"""The sections that a study's figures have on the page of its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.path_measured import MEASURED
from quiclab.compare.study import read_study
from quiclab.report.page import study_figures
from quiclab.report.page.study_figures import Section
from quiclab.report.page.write import write_report

SHAPE = replace(Shape(), blocks=4, aa_blocks=2)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three networks by three sizes, of which one loses packets; one cell has failures."""
    return write_study(tmp_path_factory.mktemp("study"), SHAPE)


def sections(study: Path) -> dict[str, Section]:
    """By the names of their figures."""
    return {each.name: each for each in study_figures.study_figures(read_study(study), analyse_study(study))}


def test_a_factor_is_followed_where_one_varies_alone(study: Path) -> None:
    """Along the size over each network; along round trip and loss over the two networks that differ in it alone."""
    parts = {part.name: part for part in sections(study)["factor"].parts}
    assert set(parts) == {"factor-size", "factor-rtt", "factor-loss"}
    data = pl.read_csv(study / "report" / "data" / "factor.csv")
    assert data.filter(factor="size").height == 3 * 3 * 2
    # Far and clean differ in the round trip alone; the network with loss is a mark by itself, and is there.
    assert data.filter(factor="rtt").height == 3 * 3 * 2


def test_first_losses_are_drawn_where_there_were_some(study: Path) -> None:
    """Of the network with loss, a drawing for each size; trials that failed have no time to draw."""
    parts = sections(study)["first_loss"].parts
    assert [part.title for part in parts] == [f"1 % loss, {size}" for size in SHAPE.workloads]
    data = pl.read_csv(study / "report" / "data" / "first_loss.csv")
    assert data.filter(cell_id="5 MB/loss").height == 2 * 4 - 1
    assert data.filter(cell_id="5 MB/clean")["offset_bytes"].null_count() == 8


def test_trials_that_do_not_tell_their_first_loss_are_counted(tmp_path: Path) -> None:
    """Of one arm nothing is known: it is not drawn as if nothing had been sent again, and that is said."""
    directory = write_study(tmp_path, replace(SHAPE, workloads=("1 MB",), paths=("loss",), failures=frozenset()))
    trials = pl.read_parquet(directory / "tables/trials.parquet")
    h3 = trials.filter(arm="h3")["trial_id"].to_list()
    metrics = pl.read_parquet(directory / "metrics.parquet")
    told = pl.col("name").is_in(["retransmitted_bytes", "first_retransmission_offset_bytes"])
    metrics.filter(~(told & pl.col("trial_id").is_in(h3))).write_parquet(directory / "metrics.parquet")
    (part,) = sections(directory)["first_loss"].parts
    assert part.rest == "Unknown for 4 trials of h3."


def test_many_panels_are_cut_and_the_rest_is_said(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command draws all of them; the data beside has every cell."""
    monkeypatch.setattr(study_figures, "MOST_PANELS", 2)
    part = sections(study)["factor"].parts[0]
    assert part.rest.startswith("2 of 3 panels are drawn here; the data has every cell.")
    assert part.rest.endswith("quiclab figure factor STUDY --factor size")
    assert len({trace["xaxis"] for trace in part.spec["data"]}) == 2
    assert pl.read_csv(study / "report" / "data" / "factor.csv").filter(factor="size").height == 3 * 3 * 2


def test_a_study_without_metrics_has_no_section(tmp_path: Path) -> None:
    """And no error."""
    directory = write_study(tmp_path, replace(SHAPE, workloads=("1 MB",), paths=("loss",)))
    (directory / "metrics.parquet").unlink()
    assert sections(directory) == {}


def test_the_page_has_them_each_with_its_data(study: Path) -> None:
    """The path too, as numbers: a column for each metric of it, a row for each network and arm."""
    html = write_report(study).read_text(encoding="utf-8")
    for name in ("factor", "first_loss"):
        assert f'<section id="{name}">' in html
        assert f'href="report/data/{name}.csv"' in html
    assert 'href="report/data/path.csv"' in html
    data = pl.read_csv(study / "report" / "data" / "path.csv")
    assert data.height == 3 * 2
    assert set(data.columns) >= {metric for metric, _ in MEASURED.values()}
    far: dict[str, Any] = data.filter(path="far", arm="h2").row(0, named=True)
    assert far["path_rtt_min_ms"] == pytest.approx(120.08)


def test_a_factor_along_which_no_cell_is_judged_is_not_drawn(tmp_path: Path) -> None:
    """There is a page all the same."""
    sizes = ("100 KB", "1 MB")
    lost = frozenset((f"loss/{size}", "h3", block) for size in sizes for block in range(9))
    shape = replace(Shape(), workloads=sizes, paths=("loss",), aa_blocks=0, lost=lost, voids=frozenset())
    assert "factor" not in sections(write_study(tmp_path, shape))
