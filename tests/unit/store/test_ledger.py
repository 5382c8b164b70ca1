# SPDX-License-Identifier: Apache-2.0
"""The ledger and the folders agree after a crash at any point between them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from quiclab.model.bounds import MOST_BLOCKS
from quiclab.model.errors import DecodeError
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import borrowed_ledger, kept_positions, look_into_ledger, open_ledger

_PAGE_BYTES = 4096
"""Page of an SQLite database, as it is made here."""


@dataclass(frozen=True)
class _Row:
    trial_id: str
    block_id: str = "b"


def _keep(study: StudyDir, attempt: Attempt) -> None:
    folder = study.folder(attempt)
    folder.mkdir(parents=True)
    document = {
        "trial_id": attempt.trial_id,
        "attempt": attempt.attempt,
        "status": attempt.status,
        "reason": attempt.reason,
        "artefacts": [],
    }
    (folder / "trial.json").write_text(json.dumps(document))


@pytest.fixture
def study(tmp_path: Path) -> StudyDir:
    """An empty study."""
    made = StudyDir(tmp_path)
    made.create()
    return made


def test_attempts_survive_closing(study: StudyDir) -> None:
    """What was recorded is there again, in order."""
    first, second = Attempt("t", 1, "void", "late"), Attempt("t", 2, "verified", "")
    _keep(study, first)
    _keep(study, second)
    with open_ledger(study) as ledger:
        ledger.plan([_Row("t"), _Row("u")])
        ledger.record(second)
        ledger.record(first)
    with open_ledger(study) as ledger:
        assert ledger.attempts() == {"t": [first, second]}


def test_a_folder_that_the_ledger_missed_is_adopted(study: StudyDir) -> None:
    """Killed between moving the folder in and writing the ledger: the trial is finished all the same."""
    attempt = Attempt("t", 1, "verified", "")
    _keep(study, attempt)
    with open_ledger(study) as ledger:
        ledger.adopt()
        assert ledger.attempts() == {"t": [attempt]}


def test_a_trial_whose_folder_is_gone_is_damaged_and_not_forgotten(study: StudyDir) -> None:
    """What was verified once is not drawn anew because a file was removed."""
    attempt = Attempt("t", 1, "verified", "")
    with open_ledger(study) as ledger:
        ledger.record(attempt)
        ledger.adopt()
        assert ledger.attempts() == {"t": [attempt]}
        assert ledger.damaged() == {"t": "its folder is gone"}


def test_a_folder_with_the_file_of_another_trial_is_damaged(study: StudyDir) -> None:
    """Its verdict is not the result of the trial whose name its folder has."""
    attempt = Attempt("t", 1, "verified", "")
    _keep(study, Attempt("u", 1, "verified", ""))
    study.trial("u").rename(study.trial("t"))
    with open_ledger(study) as ledger:
        ledger.record(attempt)
        assert ledger.damaged() == {"t": "its trial.json is that of another trial"}


def test_what_is_not_whole_and_in_no_ledger_does_not_count(study: StudyDir) -> None:
    """It never was: it is run again."""
    study.trial("t").mkdir(parents=True)
    with open_ledger(study) as ledger:
        ledger.adopt()
        assert ledger.attempts() == {}


@pytest.mark.parametrize("status", ["verified", "failed"])
def test_a_damaged_trial_that_the_ledger_lost_is_adopted(study: StudyDir, status: str) -> None:
    """It has a verdict: it is not drawn anew, and one that was verified is damaged."""
    attempt = Attempt("t", 1, status, "")
    _keep(study, attempt)
    trial = study.folder(attempt) / "trial.json"
    trial.write_text(json.dumps(json.loads(trial.read_text()) | {"artefacts": [{"path": "raw/a", "bytes": 5}]}))
    with open_ledger(study) as ledger:
        ledger.adopt()
        assert ledger.attempts() == {"t": [attempt]}
        assert ledger.damaged() == ({"t": "raw/a is missing"} if status == "verified" else {})


def test_what_was_set_aside_is_not_adopted(study: StudyDir) -> None:
    """It would overrule the attempt that stands in its place."""
    attempt = Attempt("t", 1, "verified", "")
    _keep(study, attempt)
    study.trial("t").rename(study.root / "failed" / "t-aside1")
    _keep(study, attempt)
    with open_ledger(study) as ledger:
        ledger.adopt()
        assert ledger.attempts() == {"t": [attempt]}


@pytest.mark.parametrize(
    "row",
    [
        ("../../t", 1, "verified", ""),
        ("t", "one", "verified", ""),
        ("t", 1, "splendid", ""),
        (b"t", 1, "verified", ""),
        ("t", -5, "verified", ""),
        ("t", 2**62, "verified", ""),
    ],
)
def test_a_row_that_no_run_has_written(study: StudyDir, row: tuple[object, ...]) -> None:
    """Named, before it names a folder."""
    with open_ledger(study):
        pass
    with sqlite3.connect(study.ledger) as connection:
        connection.execute("INSERT INTO attempts VALUES (?, ?, ?, ?)", row)
    connection.close()
    with pytest.raises(DecodeError, match="what no run writes"), open_ledger(study) as ledger:
        ledger.attempts()


_WHOLE = {
    **dict.fromkeys(("block_id", "kind", "cell_id", "workload", "path", "arm", "arm_name", "baseline_arm"), "x"),
    "trial_id": "t",
    "block": 0,
    "position": 0,
    "seed": 2**64 - 1,
}


def _with_row(study: StudyDir, text: str) -> None:
    with open_ledger(study), closing(sqlite3.connect(study.ledger)) as db, db:
        db.execute("INSERT INTO trials VALUES ('t', 'b', ?)", (text,))


@pytest.mark.parametrize(
    "text",
    [json.dumps({name: value for name, value in _WHOLE.items() if name != "arm_name"}),
     *(json.dumps({**_WHOLE, **more}) for more in
       ({"block": -1}, {"block": MOST_BLOCKS}, {"position": 2**63}, {"seed": 2**64}, {"arm": []})),
     "[" * 5000 + "]" * 5000, "1" * 5000, "null", "[1, 2]", "{"],
)  # fmt: skip
def test_a_row_of_another_form_names_the_ledger_without_a_word_of_python(study: StudyDir, text: str) -> None:
    """All that make plan rows of it rely on that."""
    _with_row(study, text)
    with look_into_ledger(study) as ledger, pytest.raises(DecodeError, match=r"ledger\.sqlite") as told:
        ledger.rows()
    assert not any(word in told.value.message for word in ("recursion", "integer string", "NoneType", "Exceeds"))
    assert kept_positions(study) in ({}, {"t": 0}, {"t": 2**63})


def test_what_a_row_has_besides_is_left_out(study: StudyDir) -> None:
    """Plan rows are made of it."""
    _with_row(study, json.dumps({**_WHOLE, "more": 1}))
    with look_into_ledger(study) as ledger:
        assert ledger.rows() == [_WHOLE]


def test_voiding_a_trial_that_counted(study: StudyDir) -> None:
    """Its folder moves to failed/ and is not adopted back."""
    _keep(study, Attempt("t", 1, "verified", ""))
    with open_ledger(study) as ledger:
        ledger.adopt()
        ledger.void("t")
        ledger.adopt()
        assert [attempt.status for attempt in ledger.attempts()["t"]] == ["void"]
    assert (study.root / "failed" / "t-attempt1").is_dir()
    assert not study.trial("t").exists()


def test_killed_in_the_middle_of_voiding(study: StudyDir) -> None:
    """A folder under failed/ that calls itself verified was being voided: it is void, and the block is run again."""
    attempt = Attempt("t", 1, "verified", "")
    _keep(study, attempt)
    with open_ledger(study) as ledger:
        ledger.adopt()
    study.trial("t").rename(study.failed("t", 1))
    with open_ledger(study) as ledger:
        ledger.adopt()
        assert [found.status for found in ledger.attempts()["t"]] == ["void"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_ledger_that_is_no_file(study: StudyDir, make: Callable[[Path], None]) -> None:
    """The hint says to take it away, not to look after the disk."""
    study.ledger.unlink(missing_ok=True)
    make(study.ledger)
    with pytest.raises(DecodeError, match="is no file") as raised, open_ledger(study):
        pass
    assert "move it away" in raised.value.hint


def test_a_file_that_is_no_database(study: StudyDir) -> None:
    """Named, with what to do."""
    study.ledger.write_bytes(b"no database at all" * 100)
    with pytest.raises(DecodeError, match="damaged"), open_ledger(study) as ledger:
        ledger.attempts()


def test_a_copy_that_was_taken_while_a_run_wrote_is_told(study: StudyDir) -> None:
    """It has a page of before among pages of after, and would be taken at its word otherwise."""

    def record(numbers: range) -> bytes:
        with open_ledger(study) as ledger:
            for number in numbers:
                ledger.record(Attempt(f"trial-{number:03}", 1, "void", "a reason of some length" * 9))
        return study.ledger.read_bytes()

    before, after = record(range(60)), record(range(60, 90))
    torn = 0
    for start in range(0, len(before), _PAGE_BYTES):
        page = slice(start, start + _PAGE_BYTES)
        if before[page] == after[page]:
            continue
        study.ledger.write_bytes(after[: page.start] + before[page] + after[page.stop :])
        if not _is_sound(study.ledger):
            torn += 1
            with pytest.raises(DecodeError, match="damaged"), open_ledger(study):
                pass
    assert torn


def _is_sound(ledger: Path) -> bool:
    with closing(sqlite3.connect(ledger)) as database:
        try:
            return bool(database.execute("PRAGMA integrity_check").fetchone() == ("ok",))
        except sqlite3.DatabaseError:
            return False


def _everything(study: StudyDir) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in study.root.rglob("*") if file.is_file()}


def test_a_borrowed_ledger_leaves_the_study_as_it_was(study: StudyDir) -> None:
    """Byte by byte, although it adopts what the ledger on the disk lacks."""
    first, second = Attempt("t", 1, "void", "late"), Attempt("t", 2, "verified", "")
    with open_ledger(study) as ledger:
        ledger.plan([_Row("t")])
        ledger.record(first)
    _keep(study, first)
    _keep(study, second)
    before = _everything(study)
    with borrowed_ledger(study) as ledger:
        assert ledger.attempts() == {"t": [first, second]}
        ledger.record(Attempt("u", 1, "failed", "x"))
    assert _everything(study) == before


def test_opening_a_ledger_does_not_write_it(study: StudyDir) -> None:
    """Checksums of a study that is only looked at stay."""
    with open_ledger(study) as ledger:
        ledger.plan([_Row("t")])
    before = _everything(study)
    with open_ledger(study) as ledger:
        ledger.adopt()
    assert _everything(study) == before


@pytest.mark.parametrize("opened", [borrowed_ledger, look_into_ledger])
def test_an_empty_file_is_a_damaged_ledger(study: StudyDir, opened: Any) -> None:
    """Its plan is lost: trials could be compared with nothing."""
    study.ledger.write_bytes(b"")
    with pytest.raises(DecodeError, match="damaged"), opened(study) as ledger:
        ledger.rows()


@pytest.mark.parametrize("opened", [borrowed_ledger, look_into_ledger])
def test_a_ledger_that_was_being_written_is_read_as_it_was_before(study: StudyDir, opened: Any) -> None:
    """A run that was killed in the middle leaves a journal, which is applied to a copy of both."""
    with open_ledger(study) as ledger:
        ledger.plan([_Row(f"{number:0300}") for number in range(100)])
        whole = ledger._db.execute("SELECT * FROM trials").fetchall()
    child = os.fork()
    if child == 0:
        killed = sqlite3.connect(study.ledger)
        killed.execute("PRAGMA cache_size = 1")  # it writes before it commits
        killed.execute("UPDATE trials SET block_id = 'half'")
        os._exit(0)
    os.waitpid(child, 0)
    assert study.ledger.with_name("ledger.sqlite-journal").stat().st_size
    before = _everything(study)
    with opened(study) as ledger:
        assert ledger._db.execute("SELECT * FROM trials").fetchall() == whole
    assert _everything(study) == before


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE accounts (money INTEGER)",
        "CREATE VIEW v AS SELECT * FROM attempts",
        "CREATE TRIGGER t AFTER INSERT ON attempts BEGIN DELETE FROM attempts; END",
    ],
)
@pytest.mark.parametrize("opened", [open_ledger, borrowed_ledger, look_into_ledger])
def test_a_database_with_anything_else_is_no_ledger(study: StudyDir, script: str, opened: Any) -> None:
    """It is another program's, or made so that something happens when it is used."""
    with open_ledger(study):
        pass
    with closing(sqlite3.connect(study.ledger)) as database:
        database.executescript(script)
    before = _everything(study)
    with pytest.raises(DecodeError, match="is no ledger of quiclab's"), opened(study):
        pass
    assert _everything(study) == before
