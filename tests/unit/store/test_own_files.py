# SPDX-License-Identifier: Apache-2.0
"""A study from a stranger leads nowhere."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from specs import SMALL, study_of
from synthetic_study import write_study

from quiclab.cli.main import main
from quiclab.compare.study import TRIALS, read_json, read_table
from quiclab.model.errors import DecodeError, ExitCode, HostError
from quiclab.plan.make import make_plan
from quiclab.store.disk import need_readable, read_object
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.store.own_files import (
    append_to_own,
    content_of,
    is_own_file,
    own_files,
    read_mine,
    read_own,
    refuse_strange_files,
    write_anew,
)


@pytest.fixture
def study(tmp_path: Path) -> StudyDir:
    """With a plan and no trial."""
    study_dir = StudyDir(tmp_path / "study")
    study_dir.create()
    with open_ledger(study_dir) as ledger:
        ledger.plan(make_plan(study_of(tmp_path, SMALL)))
    return study_dir


@pytest.mark.parametrize(
    "where",
    [".lock", ".remarks.json.new", "remarks.json", "metrics.parquet", "tables/trials.parquet", "report/data", "x"],
)
@pytest.mark.parametrize("verb", ["exclude", "report", "bundle"])
def test_no_link_in_a_study_is_followed(
    study: StudyDir, tmp_path: Path, where: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever it stands; what it leads to is as it was, there or not."""
    outside, missing = tmp_path / "outside", tmp_path / "missing"
    outside.write_text("whole")
    link = study.root / where
    link.parent.mkdir(exist_ok=True)
    words = {
        "exclude": ["exclude", str(study.root), "0", "--because", "x"],
        "report": ["report", str(study.root)],
        "bundle": ["bundle", str(study.root), "x:0", "--out", str(tmp_path / "x.tar.gz")],
    }
    for target in (outside, missing):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        assert main(words[verb]) == ExitCode.DECODE
        told = capsys.readouterr().err
        assert "a study must not have symbolic links" in told
        assert str(link) in told
        assert outside.read_text() == "whole"
        assert not missing.exists()


def test_nobody_waits_for_a_fifo(study: StudyDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verb that writes refuses the study; what only reads takes the file for one that cannot be read."""
    os.mkfifo(study.root / "host.json")
    os.mkfifo(study.root / "resolved.json")
    assert main(["report", str(study.root)]) == ExitCode.DECODE
    told = capsys.readouterr().err
    assert "no FIFO" in told
    assert str(study.root / "host.json") in told
    missing: list[str] = []
    assert read_json(study.root / "host.json", missing) == {}
    assert "is no regular file" in missing[0]
    os.mkfifo(tmp_path / "trials.parquet")
    assert read_table(tmp_path / "trials.parquet", TRIALS, missing).is_empty()
    with pytest.raises(DecodeError, match="is no regular file"):
        read_object(study.resolved)


def test_a_few_links_are_named(tmp_path: Path) -> None:
    """Of very many the first, and how many more."""
    for number in range(12):
        (tmp_path / f"{number:02}").symlink_to("/")
    with pytest.raises(DecodeError) as told:
        refuse_strange_files(tmp_path)
    assert len(told.value.problems) == 11
    assert told.value.problems[-1] == "and 2 more"


def test_own_files(tmp_path: Path) -> None:
    """Regular files that no link leads to."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "file").touch()
    (tmp_path / "own" / "link").symlink_to("file")
    (tmp_path / "linked").symlink_to("own")
    assert own_files(tmp_path / "own", tmp_path) == [tmp_path / "own" / "file"]
    assert own_files(tmp_path / "linked", tmp_path) == own_files(tmp_path / "missing", tmp_path) == []
    assert is_own_file(tmp_path / "own" / "file", tmp_path)
    assert not is_own_file(tmp_path / "own" / "link", tmp_path)
    assert not is_own_file(tmp_path / "linked" / "file", tmp_path)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.with_name("outside").write_text("whole")
    path.symlink_to("outside")


@pytest.mark.parametrize("put", [_fifo, _link, Path.mkdir])
def test_nothing_but_a_regular_file_is_read_or_written(tmp_path: Path, put: Callable[[Path], None]) -> None:
    """And nothing is waited for: a program under test may have put it there."""
    file = tmp_path / "file"
    put(file)
    for use in (read_own, append_to_own, content_of):
        with pytest.raises(OSError, match="file"):
            use(file)
    write_anew(file, "ours")
    assert read_own(file) == b"ours"
    assert file.is_file()
    assert not file.is_symlink()
    assert put is not _link or (tmp_path / "outside").read_text() == "whole"


def test_files_that_are_holes(tmp_path: Path) -> None:
    """A size costs a program nothing; reading it would cost all memory."""
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100 + b"end")
    assert read_own(file, last_bytes=3) == b"end"
    assert content_of(file) == {"body_bytes": 103, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    os.truncate(file, 1 << 40)
    assert content_of(file) == {"body_bytes": 1 << 40, "sha256": ""}
    with pytest.raises(OSError, match="more than are read at once"):
        read_own(file)


@pytest.mark.parametrize(("trial", "attempt"), [("../../x", 1), ("", 1), ("00/..", 1), ("00", "1/../../x")])
def test_a_ledger_names_no_other_folders(study: StudyDir, trial: str, attempt: object) -> None:
    """Ids become names of folders, and SQLite keeps any text as a number."""
    with pytest.raises(DecodeError, match="the ledger has an attempt"):
        Attempt(trial, attempt, "verified", "")  # type: ignore[arg-type]
    with sqlite3.connect(study.ledger) as db:
        db.execute("INSERT INTO attempts VALUES (?, ?, 'verified', '')", (trial, attempt))
    db.close()
    assert main(["report", str(study.root)]) == ExitCode.DECODE


@pytest.mark.parametrize("name", ["/tmp/evil", "../..", "a/../../b", "..", "a b"])
def test_a_bundle_stays_where_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of the study becomes that of a folder and of the archive."""
    folder = write_study(tmp_path / "study")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    study_dir = StudyDir(folder)
    rows = make_plan(study_of(tmp_path, SMALL))
    with open_ledger(study_dir) as ledger:
        ledger.plan(rows)
        ledger.record(Attempt(rows[0].trial_id, 1, "failed", "x"))
    study_dir.resolved.write_text(json.dumps({"name": name}))
    before = set(tmp_path.rglob("*"))
    assert main(["bundle", str(folder), rows[0].block_id]) == ExitCode.DECODE
    assert "it is not a valid name" in capsys.readouterr().err
    assert set(tmp_path.rglob("*")) - before <= {folder / ".lock"}


def test_a_record_that_another_user_could_have_written_is_not_believed(tmp_path: Path) -> None:
    """A record is refused for its owner, its mode, or a second name."""
    record = tmp_path / "record"
    record.write_text("{}")
    record.chmod(0o666)
    with pytest.raises(DecodeError, match="is not believed"):
        read_mine(record)
    record.chmod(0o600)
    (tmp_path / "second").hardlink_to(record)
    with pytest.raises(DecodeError, match="is not believed"):
        read_mine(record)
    (tmp_path / "second").unlink()
    assert read_mine(record) == b"{}"
    if os.geteuid() == 0:
        for theirs in (record, tmp_path):
            os.chown(theirs, 65534, 65534)
            with pytest.raises(DecodeError, match="is not believed"):
                read_mine(record)
            os.chown(theirs, 0, 0)


def _as_another_user(work: Callable[[], object]) -> str:
    """What a user other than root is told by `work`; `done` where it comes to its end."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        told = "nothing"
        try:
            os.setuid(65534)
            work()
            told = "done"
        except HostError as error:
            told = f"{error.message}: {error.hint}"
        finally:
            os.write(writes, told.encode())
            os._exit(0)
    os.close(writes)
    os.waitpid(child, 0)
    with os.fdopen(reads) as told_by_child:
        return told_by_child.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_keys_of_another_users_study_are_passed_over_and_what_must_be_read_is_named() -> None:
    """Its tables can be read; where it must be written, the advice is one that every verb can follow."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "tls").mkdir(mode=0o700)
        (root / "trials").mkdir(mode=0o755)
        (keys := root / "trials" / "keys.log").touch(mode=0o600)

        def read() -> None:
            with StudyDir(root).undisturbed():
                pass

        def write() -> None:
            with StudyDir(root).locked():
                pass

        assert _as_another_user(read) == "done"
        assert "a whole copy of the study" in _as_another_user(write)
        assert _as_another_user(lambda: need_readable(root / "trials")).startswith(f"cannot read {keys}: ")
        (root / "tables").mkdir(mode=0o711)  # what is in it may be opened by whoever knows its name
        assert _as_another_user(read).startswith(f"cannot read {root / 'tables'}: ")
