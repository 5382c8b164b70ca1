# SPDX-License-Identifier: Apache-2.0
"""`quiclab figure`."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.report.figures import FIGURES


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study."""
    return write_study(tmp_path_factory.mktemp("study"))


def test_the_list_has_every_question(capsys: pytest.CaptureFixture[str]) -> None:
    """A line per figure."""
    assert main(["figure", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [figure.name for figure in FIGURES]


def test_a_page_loads_nothing_and_has_its_data_beside_it(directory: Path, tmp_path: Path) -> None:
    """HTML with plotly inside; the CSV has a row per trial of the cell."""
    out = tmp_path / "spread.html"
    assert main(["figure", "distributions", str(directory), "--cell", "1 MB/loss", "-o", str(out)]) == 0
    assert "<title>How do the trials" in out.read_text(encoding="utf-8")
    assert pl.read_csv(out.with_suffix(".csv")).height == 18


def test_the_data_alone_takes_no_drawing(directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV and nothing else, also of trials of an arm against itself."""
    out = tmp_path / "curve.csv"
    cell = "5 MB/clean/aa-h2"
    assert main(["figure", "bytes_acknowledged", str(directory), "--cell", cell, "--block", "1", "-o", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert pl.read_csv(out)["arm"].unique(maintain_order=True).to_list() == ["h2#1", "h2#2"]
    assert [file.name for file in tmp_path.iterdir()] == ["curve.csv"]


@pytest.mark.parametrize(("ending", "head"), [("pdf", b"%PDF-"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_for_a_paper(directory: Path, tmp_path: Path, ending: str, head: bytes) -> None:
    """Each kind begins as such files do."""
    out = tmp_path / f"map.{ending}"
    assert main(["figure", "differences", str(directory), "-o", str(out)]) == 0
    assert out.read_bytes().startswith(head)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["figure"], "name a figure and a study"),
        (["figure", "pie", "STUDY"], "there is no figure 'pie'"),
        (["figure", "window", "STUDY", "-o", "x.docx"], "no figure can be written as x.docx"),
        (["figure", "filmstrip", "STUDY", "--block", "0", "--block", "1"], "filmstrip shows one block at a time"),
        (["figure", "window", "STUDY"], "has no tables/transport_metrics"),
        (["figure", "differences", "STUDY", "-o", "x.pdf", "--width", "8.4"], "a number and one of pt, mm, cm, in"),
        (["figure", "differences", "STUDY", "-o", "x.pdf", "--width", "2cm"], "cannot be 2 cm wide"),
        (["figure", "differences", "STUDY", "-o", "x.pdf", "--font", "1in"], "letters cannot be of 2.54 cm"),
        (["figure", "differences", "STUDY", "-o", "x.html", "--width", "8.4cm"], "x.html has no size"),
    ],
)
def test_what_cannot_be_drawn_is_told(
    directory: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence and exit code 2; this study has no logs."""
    assert main([str(directory) if word == "STUDY" else word for word in arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_table_of_another_version_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an older version left lacks columns."""
    study = write_study(tmp_path)
    for trial in (study / "trials").iterdir():
        file = study / "tables" / "link_packets" / f"{trial.name}.parquet"
        file.parent.mkdir(exist_ok=True)
        pl.DataFrame({"arrival_ns": [0], "direction": ["down"]}).write_parquet(file)
    assert main(["figure", "queue", str(study), "-o", str(tmp_path / "queue.csv")]) == ExitCode.DECODE
    told = capsys.readouterr().err
    assert "a table is of another version, or damaged" in told
    assert "makes the tables anew" in told


@pytest.mark.parametrize(
    ("words", "told", "hint"),
    [
        (["distributions", "--metric", "ttlbb"], "there is no metric 'ttlbb'", "did you mean ttlb?"),
        (["differences", "--metric", "xyzzy"], "there is no metric 'xyzzy'", "docs/reference/metrics.md lists all"),
        (["differences", "--metric", "plt_ms"], "no trial of this study has a value of plt_ms", "it has first_"),
        (["proxy"], "nothing that the figure could show", "the figure answers: What does a proxy"),
        (["losses"], "this study has no tables/link_packets/*.parquet", ""),
        (["bytes_acknowledged", "--block", "77"], "has no trial in block 77", "it has blocks 0 to 8"),
        (
            ["bytes_acknowledged", "--cell", "1 MB/clean", "--metric", "first_retransmission_offset"],
            "no verified trial of the cell 1 MB/clean has a value of offset of the first retr",
            "another metric (--metric)",
        ),
    ],
)
def test_what_there_is_nothing_of_is_told_truly(
    directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str, hint: str
) -> None:
    """Neither a figure without data nor a false reason, and no file."""
    name, *more = words
    assert main(["figure", name, str(directory), "-o", str(tmp_path / "x.html"), *more]) == ExitCode.SPEC
    said = capsys.readouterr().err
    assert told in said
    assert hint in said.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_cells_that_are_not_judged_are_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A figure without a judged cell names the cells, and not its question."""
    shape = Shape(workloads=("100 KB", "1 MB"), paths=("loss",), aa_blocks=0, failures=frozenset())
    study = write_study(tmp_path / "study", replace(shape, disturbed={"h2": 60.0, "h3": 60.0}))
    out = tmp_path / "x.csv"
    assert main(["figure", "factor", str(study), "-o", str(out)]) == ExitCode.SPEC
    said = " ".join(capsys.readouterr().err.split())
    assert "none of the cells that the figure could show is judged" in said
    assert "Left out, as they are not judged: 1 % loss, 100 KB; 1 % loss, 1 MB" in said
    assert not out.exists()


def test_a_metric_needs_no_unit(directory: Path, tmp_path: Path) -> None:
    """As in every other place."""
    out = tmp_path / "x.csv"
    assert main(["figure", "differences", str(directory), "--metric", "ttfb", "-o", str(out)]) == 0
    assert set(pl.read_csv(out)["metric"]) == {"ttfb_ms"}


@pytest.mark.parametrize("file", ["metrics.parquet", "tables/trials.parquet"])
def test_damaged_files_make_no_empty_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str) -> None:
    """The file is named, and nothing is drawn."""
    study = write_study(tmp_path / "study")
    os.truncate(study / file, 100)
    out = tmp_path / "x.html"
    assert main(["figure", "differences", str(study), "-o", str(out)]) == ExitCode.DECODE
    assert f"{file} cannot be read" in capsys.readouterr().err
    assert not out.exists()


def test_what_is_missing_besides_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A figure can be drawn without the resolved spec, by the trials alone."""
    study = write_study(tmp_path / "study")
    (study / "resolved.json").unlink()
    assert main(["figure", "differences", str(study), "-o", str(tmp_path / "x.csv")]) == 0
    assert "resolved.json is missing" in capsys.readouterr().err


def test_a_figure_that_does_not_fit_leaves_nothing(directory: Path, tmp_path: Path) -> None:
    """What was there stays; the hint is no talk of trials."""
    out = tmp_path / "x.html"
    out.write_text("old")
    command = [sys.executable, "-m", "quiclab.cli.main", "figure", "differences", str(directory), "-o", str(out)]
    limit = ["sh", "-c", 'ulimit -f 100; trap "" XFSZ; exec "$@"', "sh"]
    done = subprocess.run([*limit, *command], capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.HOST, done.stderr
    assert "File too large" in done.stderr
    assert "the study is untouched" in done.stderr
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("x.html", "old")]
