# SPDX-License-Identifier: Apache-2.0
"""The pages of pairs: which trials, which links, and what they say where something is missing or odd."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pytest
from by_night import by_night
from synthetic_logs import write_logs
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.compare.analyse import analyse_study
from quiclab.compare.study import read_study
from quiclab.report.page import pair_page
from quiclab.report.page.pairs import Cell, cells_of
from quiclab.report.page.write import write_report

SMALL = replace(
    Shape(), workloads=("1 MB",), paths=("loss",), blocks=3, aa_blocks=1, voids=frozenset(),
    failures=frozenset({("loss/1 MB", "h2", 1)}),
)  # fmt: skip
NASTY = "<script>alert('1')</script>&{{ 7*7 }}"
OVER_TIME = {"bytes_acknowledged", "throughput", "window", "rtt", "queue", "multiplexing",
             "interleaving"}  # fmt: skip
"""Figures that the written tables have something for."""


def with_logs(directory: Path, shape: Shape = SMALL, packets: int = 300) -> Path:
    """A study whose verified trials have the tables that figures of single trials need."""
    write_study(directory, shape)
    for trial in (directory / "trials").iterdir():
        write_logs(directory, trial.name, packets)
    return directory


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three blocks, one with a failed trial, and a control; its report is written."""
    directory = with_logs(tmp_path_factory.mktemp("study"))
    failed = next(t for t in cells(directory)[0].pairs[2].trials if t.status == "failed")
    (directory / failed.folders[0] / "raw").mkdir(parents=True)
    (directory / failed.folders[0] / "raw" / "client #1?.out").write_text("gave up")
    write_report(directory)
    return directory


def drawn(html: str) -> set[str]:
    """Names of the figures of a page."""
    return set(re.findall(r'data-figure="([^"]*)"', html))


def cells(directory: Path) -> list[Cell]:
    """As the report has them."""
    return cells_of(read_study(directory), analyse_study(directory))


def pages(directory: Path) -> dict[str, str]:
    """Every page of the report by its name, without plotly's own code."""
    found = [directory / "report.html", *directory.glob("report/pairs/*/*.html")]
    code = re.compile(r"<script>/\*\*.*?</script>", re.DOTALL)
    return {str(page.relative_to(directory)): code.sub("", page.read_text(encoding="utf-8")) for page in found}


def page(directory: Path, name: str) -> str:
    """The page of a pair of the first cell."""
    return next(html for file, html in pages(directory).items() if re.match(rf"report/pairs/1-.*/{name}", file))


def test_a_cell_opens_on_the_median_trials_and_steps_through_every_block(study: Path) -> None:
    """The controls come after the cells, with pages of their own."""
    first, *controls = cells(study)
    assert [pair.block for pair in first.pairs] == [None, 0, 1, 2]
    assert [trial.arm for trial in first.pairs[0].trials] == ["h2", "h3"]
    assert first.pairs[2].trouble == "1 failed"
    assert [control.title.rpartition(", ")[2] for control in controls] == ["h2 against itself", "h3 against itself"]
    before, after = first.neighbours(first.pairs[1])
    assert (before, after) == (first.pairs[0], first.pairs[2])


def test_every_link_of_every_page_leads_to_a_file(study: Path) -> None:
    """Relative ones, that hold wherever the study lies; also to names with signs that addresses give a meaning to."""
    broken = []
    for file, html in pages(study).items():
        for href in map(unescape, re.findall(r'href="([^"]*)"', html)):
            place, _, anchor = href.partition("#")
            target = (study / file).parent / unquote(place) if place else study / file
            inside = not anchor or f'id="{anchor}"' in target.read_text(encoding="utf-8")
            if not href.startswith("data:") and not (target.is_file() and inside):
                broken.append((file, href))
    assert broken == []


def test_all_pages_of_a_study_are_reached_from_the_report(study: Path) -> None:
    """No page is an orphan."""
    assert set(pages(study)) - {"report.html"} == set(
        re.findall(r'href="(report/pairs/[^"]*html)"', pages(study)["report.html"])
    )


def test_a_pair_shows_every_figure_of_single_trials_with_metrics_and_logs(study: Path) -> None:
    """Nothing is left out where the tables have it; a waterfall of one request has nothing to compare, and says so."""
    html = page(study, "block-0")
    assert drawn(html) >= OVER_TIME
    assert "waterfall" not in drawn(html)
    assert "nothing to compare in it" in html
    assert "ttlb_ms" in html
    assert "/raw/client.json" in html


def test_each_figure_of_a_pair_has_the_command_that_writes_its_data(study: Path, tmp_path: Path) -> None:
    """Copied to a shell they all work, of median trials, of blocks, and of an arm against itself."""
    told = 0
    for html in pages(study).values():
        for command in map(unescape, re.findall(r"Data: <code>quiclab (figure [^<]*)</code>", html)):
            arguments = shlex.split(command.replace("STUDY", str(study)))
            out = tmp_path / arguments[-1]
            assert main([*arguments[:-1], str(out)]) == 0
            assert pl.read_csv(out).height
            told += 1
    assert told == sum(len(drawn(html)) for file, html in pages(study).items() if file.startswith("report/pairs"))


def test_a_failed_trial_has_its_reason_and_its_logs(study: Path) -> None:
    """The other trial's figures are drawn all the same."""
    html = page(study, "block-1")
    assert "client reached its time limit of 60 s" in html
    assert "raw/client%20%231%3F.out" in html
    assert drawn(html) >= OVER_TIME


@pytest.mark.parametrize("table", ["link_packets", *by_night("transport_metrics", "bytes_acknowledged", "frames")])
def test_a_study_without_a_table_says_which(tmp_path: Path, table: str) -> None:
    """The figures of other tables are drawn, those of the missing one are named."""
    shutil.rmtree(with_logs(tmp_path) / "tables" / table)
    write_report(tmp_path)
    html = page(tmp_path, "block-0")
    assert "have nothing of the kind in " in html
    assert table in html[html.index("nothing of the kind") :]


def test_tables_of_an_older_version_or_damaged_ones_cost_their_figures_only(tmp_path: Path) -> None:
    """A column that was not there yet, a file that is cut: said on the page, the rest is drawn."""
    for file in (with_logs(tmp_path) / "tables/transport_metrics").iterdir():
        pl.read_parquet(file).drop("source").write_parquet(file)
    for file in (tmp_path / "tables/http_requests").iterdir():
        file.write_bytes(file.read_bytes()[:100])
    write_report(tmp_path)
    html = page(tmp_path, "block-0")
    assert "a table is of another version or damaged" in html
    assert "cannot be read" in html
    assert drawn(html) >= OVER_TIME - {"window", "rtt"}


def test_values_that_are_no_numbers_are_gaps(tmp_path: Path) -> None:
    """NaN and infinity in tables and metrics leave a page whose JSON a browser reads."""
    with_logs(tmp_path)
    for name, column in (("transport_metrics", "smoothed_rtt_ms"), ("bytes_acknowledged", "bytes")):
        for file in (tmp_path / "tables" / name).iterdir():
            odd = pl.Series(column, [float("nan"), float("inf"), None])
            frame = pl.read_parquet(file)
            frame.head(3).with_columns(odd).write_parquet(file)
    write_report(tmp_path)
    texts = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page(tmp_path, "block-0"), re.DOTALL)
    assert texts
    for text in texts:
        json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


def test_text_from_specs_and_logs_is_text_on_every_page(tmp_path: Path) -> None:
    """Markup in names, reasons, addresses, states, proofs and file names is never markup."""
    shape = replace(SMALL, workloads=(NASTY,), paths=(NASTY,), failures=frozenset({(f"{NASTY}/{NASTY}", "h2", 1)}))
    with_logs(tmp_path, shape)
    trials = pl.read_parquet(tmp_path / "tables/trials.parquet")
    trials.with_columns(reason=pl.lit(NASTY)).write_parquet(tmp_path / "tables/trials.parquet")
    for table, column in (("http_requests", "url"), ("cc_states", "new_state"), ("decode_stats", "advice")):
        for file in (tmp_path / "tables" / table).iterdir():
            pl.read_parquet(file).with_columns(pl.lit(NASTY).alias(column)).write_parquet(file)
    for folder in (tmp_path / "trials").iterdir():
        (folder / "raw" / "<img src=x onerror=alert(1)>.log").touch()
        document = json.loads((folder / "trial.json").read_text())
        (folder / "trial.json").write_text(json.dumps(document | {"proof": {NASTY: NASTY}}))
    metrics = pl.read_parquet(tmp_path / "metrics.parquet")
    metrics.with_columns(unit=pl.lit(NASTY)).write_parquet(tmp_path / "metrics.parquet")
    write_report(tmp_path)
    assert len(pages(tmp_path)) > 5
    for html in pages(tmp_path).values():
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "&lt;script&gt;alert" in html


def test_only_failures_have_pages_too(tmp_path: Path) -> None:
    """Without any verified trial there is no figure, but every trial with its reason and its logs."""
    every = frozenset(("loss/1 MB", arm, block) for arm in ("h2", "h3") for block in range(3))
    write_report(write_study(tmp_path, replace(SMALL, failures=every, aa_blocks=0)))
    html = page(tmp_path, "block-0")
    assert "No figure of these trials can be drawn." in html
    assert "failed: ranks worst" in html


def test_a_lone_trial_has_a_page(tmp_path: Path) -> None:
    """A study that was interrupted after its first trial; a report that is written again holds nothing of the one
    before."""
    trials = with_logs(tmp_path) / "tables" / "trials.parquet"
    pl.read_parquet(trials).head(1).write_parquet(trials)
    write_report(tmp_path)
    assert drawn(page(tmp_path, "block-0")) >= OVER_TIME
    old = tmp_path / "report/pairs/9-gone/block-7.html"
    old.parent.mkdir(parents=True)
    old.touch()
    write_report(tmp_path)
    assert drawn(page(tmp_path, "block-0")) >= OVER_TIME
    assert not old.exists()


def test_all_processors_write_what_one_would(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many pairs the pages are shared out among new processes: byte for byte the same."""
    again = tmp_path / study.name
    shutil.copytree(study, again)
    shutil.rmtree(again / "report")
    monkeypatch.setattr(pair_page, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    write_report(again)
    pages = sorted(page.relative_to(study) for page in (study / "report" / "pairs").rglob("*.html"))
    assert len(pages) > 2
    for page in pages:
        assert (again / page).read_bytes() == (study / page).read_bytes()
