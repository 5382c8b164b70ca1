# SPDX-License-Identifier: Apache-2.0
"""`quiclab methods`: every number in it is the study's."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.lab.endpoints import ENDPOINTS
from quiclab.report.page.citations import SOURCES, source_of

DEMO = Path(__file__).resolve().parents[3] / "docs" / "demo-study.tar.xz"
OWN = ("command",)
"""Endpoints that stand for a user's own program."""
HOST = {
    "quiclab": "0.2.0", "cpu_model": "Test CPU", "cpus": 4, "kernel": "6.1", "link_backend": "veth",
    "programs": {"client curl": "8.9.1", "server my_server": "1_0%"},
}  # fmt: skip
ARMS = [
    {"name": arm, "protocol": arm, "client": {"name": "curl"}, "server": {"name": "my_server"}} for arm in ("h2", "h3")
]


def _shape(**more: Any) -> Shape:
    resolved = {"arms": ARMS, "blocks": 9, "matters_pct": 3.0, "seed": 77} | more.pop("resolved", {})
    return Shape(workloads=("1 MB",), paths=("clean", "loss"), host=HOST, resolved=resolved, **more)


def _told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["methods", *arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_finished_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Arms, versions, pairs, seed, test, machine; and it is not called what it is not."""
    study = write_study(tmp_path / "study", _shape(voids=frozenset({("clean/1 MB", "h3", 2)})))
    told = _told(capsys, str(study))
    paragraph, entries = told.split("@misc", 1)
    for words in ("curl 8.9.1", "with quiclab 0.2.0", "9 pairs of 9 planned in each cell", "(seed 77)", "3 % or more",
                  "Wilcoxon", "Benjamini and Hochberg over 2 cells", "at the level 0.05", "Test CPU, 4 processors",
                  "There were 2 networks", "1 MB, a download of 1 MB", "veth"):  # fmt: skip
        assert words in paragraph
    for words in ("unfinished", "merged", "one arm", "confidence sequence"):
        assert words not in paragraph
    statuses = dict(pl.read_parquet(study / "tables" / "trials.parquet").group_by("status").len().rows())
    for status, words in (("verified", "were verified"), ("void", "were invalid")):
        assert f"{statuses[status]} {words}" in paragraph
    assert "title = {{curl}}" in entries
    assert r"version = {1\_0\%}" in entries
    assert r"title = {{my\_server}}" in entries


def test_an_unfinished_study_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before all else, with the pairs that ran and those that were planned."""
    told = _told(capsys, str(write_study(tmp_path / "study", _shape(resolved={"blocks": 20}))))
    assert told.startswith("This study is unfinished: 9 of 20 planned pairs of 2 cells have run.")


def test_a_sequential_study_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The paragraph names the stopping rule and the number of looks."""
    study = write_study(tmp_path / "study", _shape())
    rule = {"version": 1, "effect_pct": 5, "at_most": 60, "blocks": {"1 MB/loss": 9}, "looks": [{}, {}]}
    (study / "sequential.json").write_text(json.dumps(rule))
    told = _told(capsys, str(study))
    assert "at most 60 pairs, and results were looked at 2 times" in told
    assert "confidence sequence" in told
    assert "5 % or more was declared to matter" in told
    assert "Wilcoxon" not in told


def test_a_merged_study_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The paragraph names each machine."""
    study = write_study(tmp_path / "study", _shape())
    (study / "hosts").mkdir()
    (study / "hosts" / "1.json").write_text(json.dumps(HOST | {"cpu_model": "Other CPU"}))
    told = _told(capsys, str(study))
    assert "merged from parts that ran on 2 machines" in told
    assert "Test CPU" in told
    assert "Other CPU" in told


def test_a_study_of_one_arm_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The paragraph says that there is one arm, and names no test."""
    study = write_study(tmp_path / "study", _shape(aa_blocks=0, resolved={"arms": ARMS[:1]}))
    for table in (study / "tables" / "trials.parquet",):
        pl.read_parquet(table).filter(arm="h2").write_parquet(table)
    told = _told(capsys, str(study))
    assert told.startswith("This study has one arm")
    assert "Wilcoxon" not in told
    assert "pair" not in told.split("@misc", 1)[0].replace("pair with an invalid one", "")


def test_for_latex_all_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No bare per cent sign cuts a line off, and BibTeX is a comment."""
    study = write_study(tmp_path / "study", _shape())
    assert main(["methods", str(study), "--latex"]) == 0
    paragraph, entries = capsys.readouterr().out.split("\n\n", 1)
    assert r"\%" in paragraph
    assert not re.search(r"(?<!\\)[%_&#]", paragraph)
    assert all(line.startswith("%") for line in entries.splitlines())


def test_the_demo_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A real study of an earlier version."""
    with tarfile.open(DEMO) as archive:
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    told = _told(capsys, str(tmp_path / "demo-study"))
    for words in ("quiclab 0.1.0", "7 pairs of 7 planned", "154 attempts, 154 were verified", "more than 100 µs late"):
        assert words in told


def test_what_is_no_study_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without a study ends with one sentence and no traceback."""
    assert main(["methods", str(tmp_path / "nothing")]) != 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted({endpoint.name for endpoint in ENDPOINTS} - set(OWN)))
def test_every_program_has_its_source(name: str) -> None:
    """Each program has a source for BibTeX, also one with a planted fault."""
    assert source_of(name) in SOURCES.values()
