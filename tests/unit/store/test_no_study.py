# SPDX-License-Identifier: Apache-2.0
"""Paths that hold no study, or have lost its ledger, as every command tells of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from specs import SMALL
from synthetic_study import Shape, write_study

import quiclab
from quiclab.cli.main import main
from quiclab.model.errors import DecodeError, ExitCode
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger

LEDGER = (
    ("status", "S"),
    ("verify", "S"),
    ("report", "S"),
    ("bundle", "S", "1MB/p:0"),
    ("note", "S"),
    ("exclude", "S", "aa", "--because", "x"),
    ("merge", "OTHER", "S"),
)
"""Commands that need the ledger of the study S."""
TABLES = (
    ("explain", "S"),
    ("explain", "S", "1MB/p", "--confirm"),
    ("sql", "S", "SELECT 1"),
    ("figure", "sequence", "S"),
    ("compare", "S", "OTHER"),
    ("compare", "OTHER", "S"),
)
"""Commands that need its tables."""


def told_by(words: Sequence[str], study: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Standard error of a command about a study that cannot be used."""
    other = write_study(study.parent / "other", Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    places = {"S": str(study), "OTHER": str(other)}
    assert main([places.get(word, word) for word in words]) == ExitCode.DECODE
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("words", [*LEDGER, *TABLES, ("clean", "S")], ids=" ".join)
def test_a_path_that_is_not_there_is_told(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typing error is no study without this file or that."""
    assert f"{tmp_path / 'nowhere'} does not exist" in told_by(words, tmp_path / "nowhere", capsys)


@pytest.mark.parametrize("words", [LEDGER[0], TABLES[0]], ids=" ".join)
def test_a_file_is_no_study(words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.html").touch()
    assert "is a file, and a study is a folder" in told_by(words, tmp_path / "report.html", capsys)


def trial_in(study: Path) -> None:
    """Keep a trial that is whole in a study without a ledger."""
    StudyDir(study).create()
    (study / "spec.toml").write_text(SMALL)
    (study / "trials" / "aa").mkdir()
    document = {"trial_id": "aa", "attempt": 1, "status": "verified", "reason": "", "artefacts": []}
    (study / "trials" / "aa" / "trial.json").write_text(json.dumps(document))


@pytest.mark.parametrize("words", LEDGER, ids=" ".join)
def test_a_lost_ledger_is_made_anew_by_a_run(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trials are there: nothing needs to run again."""
    trial_in(tmp_path / "s")
    told = told_by(words, tmp_path / "s", capsys)
    assert "run " + str(tmp_path / "s") in told
    assert "makes it anew from the 1 attempt in trials/ and failed/" in told


def test_a_lost_ledger_without_a_spec_needs_the_spec_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trial_in(tmp_path / "s")
    (tmp_path / "s" / "spec.toml").unlink()
    assert "put its spec.toml, which is gone too, back into it" in told_by(("report", "S"), tmp_path / "s", capsys)


@pytest.mark.parametrize("words", [*LEDGER[1:3], *LEDGER[4:6]], ids=" ".join)
def test_tables_without_a_ledger_and_logs_are_an_archive(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No run could make a ledger of it."""
    write_study(tmp_path / "s", Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    assert "it is an archive for readers" in told_by(words, tmp_path / "s", capsys)


@pytest.mark.parametrize("ledger", [b"", b"SQLite format 3\0" + bytes(4000)], ids=["empty", "damaged"])
@pytest.mark.parametrize("words", [*LEDGER[1:6], TABLES[0], *TABLES[2:]], ids=" ".join)
def test_a_ledger_that_is_damaged_is_told_and_left_as_it_is(
    words: tuple[str, ...], ledger: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which trials count is not known without it."""
    study = write_study(tmp_path / "s", Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    (study / "spec.toml").write_text(SMALL)
    (study / "ledger.sqlite").write_bytes(ledger)
    assert f"{study / 'ledger.sqlite'} is damaged" in told_by(words, study, capsys)
    assert (study / "ledger.sqlite").read_bytes() == ledger


@pytest.mark.parametrize("ledger", [b"", b"SQLite format 3\0" + bytes(4000)], ids=["empty", "damaged"])
def test_a_program_is_told_of_a_damaged_ledger(ledger: bytes, tmp_path: Path) -> None:
    """`quiclab.open` takes no other study than the commands do; tables alone are enough for both."""
    study = write_study(tmp_path / "s", Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    assert quiclab.open(study).trials.height
    with open_ledger(StudyDir(study)):
        pass
    assert quiclab.open(study).trials.height
    (study / "ledger.sqlite").write_bytes(ledger)
    with pytest.raises(DecodeError, match=r"ledger\.sqlite is damaged"):
        quiclab.open(study)
