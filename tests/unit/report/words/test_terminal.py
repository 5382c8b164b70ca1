# SPDX-License-Identifier: Apache-2.0
"""The result table in the terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import StudyAnalysis
from quiclab.report.words.terminal import render


def rendered(directory: Path, width: int = 80) -> list[str]:
    """The lines that a terminal of this width shows."""
    return rendered_of(analyse_study(directory), width)


def rendered_of(analysis: StudyAnalysis, width: int = 80) -> list[str]:
    """The lines about an analysis that a terminal of this width shows."""
    out = io.StringIO()
    render(analysis, Console(file=out, width=width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_the_first_line_says_what_is_compared(tmp_path: Path) -> None:
    """Nothing stands before the arms, and their differences follow at once."""
    lines = rendered(write_study(tmp_path))
    assert lines[0].startswith("h2 = Caddy + curl, HTTP/2 on TCP (reno")
    assert "They differ in" in " ".join(lines[:3])


def test_every_cell_has_its_number_and_its_conclusion(tmp_path: Path) -> None:
    """Rows by network; difference, interval, p, pairs and a word in every row; the legend has the words that occur."""
    lines = rendered(write_study(tmp_path))
    network = lines.index("1 % loss")
    assert "−" in lines[network + 2].split(" ms ")[-1].split("%")[0]
    assert lines[network + 2].endswith(" 9 different")
    assert lines[lines.index("nothing added") + 1].endswith(" 9 median eq.")
    legend = " ".join(lines)
    assert "median eq.: medians are equivalent to within 2 %; the slowest trials (p90) may still differ." in legend
    assert "small:" not in legend


def test_the_legend_says_that_intervals_of_selected_cells_are_wider(tmp_path: Path) -> None:
    """Six of the nine cells are different: 1 − 6 × 0.05 / 9."""
    legend = " ".join(rendered(write_study(tmp_path)))
    assert (
        "Intervals: at least 95 %, wider where a result was picked out of all cells: 96.7 % for cells called" in legend
    )
    assert "(Benjamini–Yekutieli 2005)." in legend


def test_fits_80_columns_and_tells_failures_and_voids(tmp_path: Path) -> None:
    """No number is cut off; each failure is told with its arm, and all repeats in one line."""
    lines = rendered(write_study(tmp_path))
    assert max(map(len, lines)) <= 80
    assert not any("…" in line and not any(c.isdigit() for c in line) for line in lines)
    assert "1 % loss, 5 MB, h2: 2 failed of 9 attempts." in lines
    assert "4 of 202 attempts were disturbed and do not count; most of 100 ms more RTT, 1 MB, " in " ".join(lines)


def programs(other: str, baseline: str) -> Shape:
    """One network and three sizes, of two arms that a list of programs named."""
    cells = Shape(paths=("loss",), failures=frozenset(), voids=frozenset())
    return replace(cells, baselines={baseline: baseline, other: baseline})


def test_long_names_of_arms_are_broken_between_their_words(tmp_path: Path) -> None:
    """Each line of a head has whole words in 80 columns, and every number stands in its line."""
    study = write_study(tmp_path, programs("h3-nginx-quiche", "h2-nginx-nghttp"))
    lines = rendered(study)
    assert max(map(len, lines)) <= 80
    heads = lines[lines.index(analyse_study(study).metric.title) + 1 : lines.index("1 % loss")]
    words = [word for line in heads for word in line.split()]
    assert {"h3-nginx-", "quiche", "h2-nginx-", "nghttp"} < set(words)
    row = next(line for line in lines if line.startswith("  1 MB"))
    assert len(re.findall(r" \d[\d.]* m?s ", row)) == 2
    assert row.endswith(" 9 different")
    wide = rendered(study, 200)
    assert any("h2-nginx-nghttp h3-nginx-quiche" in line for line in wide)


def test_a_word_that_is_wider_than_numbers_stands_above_the_table(tmp_path: Path) -> None:
    """The heads then say which arm is the baseline."""
    study = write_study(tmp_path, programs("h3-openlitespeed-chromium", "h2-openlitespeed-chromium"))
    lines = rendered(study)
    assert max(map(len, lines)) <= 80
    title = lines.index(analyse_study(study).metric.title)
    roles = ["baseline: h2-openlitespeed-chromium", "other: h3-openlitespeed-chromium"]
    assert lines[title + 1 : title + 3] == roles
    assert lines[title + 4].split()[:2] == ["baseline", "other"]


def test_a_void_control_is_told(tmp_path: Path) -> None:
    """A trial of an A/A pair is one of the study's: where one failed, no line says that none did."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), failures=frozenset(), voids=frozenset())))
    control = analysis.controls[0]
    spoiled = replace(control, baseline=replace(control.baseline, voids=1))
    lines = rendered_of(replace(analysis, controls=(spoiled, *analysis.controls[1:])))
    told = " ".join(lines)
    assert "attempts were disturbed and do not count; most of A/A, " in told
    assert ": 1 of 9." in told
    assert "No trial failed and none was repeated." not in lines
    assert "No trial failed and none was repeated." in rendered_of(analysis)


def test_the_answer_and_the_level_of_its_intervals_are_told(tmp_path: Path) -> None:
    """The sentences of the page; nine pairs attain 96.1 % where 95 % are asked for."""
    lines = rendered(write_study(tmp_path), 200)
    assert "nothing added: h3 against h2: the median is equivalent to within 2 % for 100 KB, 1 MB and 5 MB." in lines
    assert any(line.startswith("A/A, h2 against itself") and "(96.1 % interval " in line for line in lines)


def test_names_with_markup_are_printed_as_they_are(tmp_path: Path) -> None:
    """Square brackets in a name are text, not a style."""
    shape = replace(Shape(), workloads=("[red]x[/red]",), paths=("[bold]",), failures=frozenset(), voids=frozenset())
    assert any("[bold]" in line for line in rendered(write_study(tmp_path, shape)))


@pytest.mark.parametrize("name", ["resolved.json", "metrics.parquet", "tables/trials.parquet"])
def test_a_missing_file_is_said(tmp_path: Path, name: str) -> None:
    """The table is drawn from the rest, and one line names what is missing."""
    (write_study(tmp_path) / name).unlink()
    assert f"{name} is missing." in rendered(tmp_path)
