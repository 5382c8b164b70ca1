# SPDX-License-Identifier: Apache-2.0
"""Whatever happens to the files of a study, every analysing verb says it in a sentence, and no trial vanishes."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from by_night import by_night
from small_study import main_only, quiclab, write_spec

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

DOCUMENTED = {ExitCode.OK, ExitCode.TRIALS_FAILED, ExitCode.SPEC, ExitCode.HOST, ExitCode.DECODE}
COUNT = "SELECT status, count(*) FROM trials GROUP BY ALL ORDER BY ALL"
Harm = Callable[[Path], object]


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _folder_instead(path: Path) -> None:
    _remove(path)
    path.mkdir()


HARMS: dict[str, Harm] = {
    "removed": _remove,
    "empty": lambda path: path.write_bytes(b""),
    "half": _half,
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "deep": lambda path: path.write_bytes(b"[" * 200_000),
    "a folder": _folder_instead,
}
HARMS_BY_DAY = ["removed", "half", "noise"]
FILES = (
    *("resolved.json", "ledger.sqlite", "trials/{}", "trials/{}/trial.json", "trials/{}/raw/client.pcapng"),
    *by_night("host.json", "spec.toml", "metrics.parquet", "report.html", ".lock", "tables/trials.parquet"),
    *by_night("tables/packets/{}.parquet"),
    *by_night("tables/metrics/{}.parquet", "tables/losses", "trials/{}/raw", "trials/{}/raw/link.qplog"),
)
ROWS = {
    "another status": "UPDATE attempts SET status = 'splendid'",
    "a path for an id": "UPDATE attempts SET trial_id = '../../' || trial_id",
    "a number for text": "UPDATE attempts SET attempt = 'x'",
    "no JSON": "UPDATE trials SET row = '{'",
    "a list": "UPDATE trials SET row = '[]'",
    "no plan": "DELETE FROM trials",
    "nulls": "UPDATE trials SET row = json_remove(row, '$.arm')",
    "no table": "DROP TABLE attempts",
    "an unknown trial": "INSERT INTO attempts VALUES ('ffffffffffffffff', 1, 'verified', '')",
    "a second attempt": "INSERT INTO attempts SELECT trial_id, 2, 'verified', '' FROM attempts LIMIT 1",
    "a huge number": "UPDATE attempts SET attempt = 9223372036854775807",
}
BY_DAY = ("another status", "a path for an id", "no JSON", "no table")
TRIALS = 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real study with its report."""
    folder = tmp_path_factory.mktemp("whole")
    done = quiclab("run", main_only(write_spec(folder)), "--out", folder / "study")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "study"


@pytest.fixture
def study(whole: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(whole, tmp_path / "study"))


def _attempts(study: Path) -> int | None:
    """In the ledger, if that can be asked."""
    try:
        with closing(sqlite3.connect(f"file:{study}/ledger.sqlite?mode=ro", uri=True)) as ledger:
            return int(ledger.execute("SELECT count(*) FROM attempts").fetchone()[0])
    except sqlite3.Error:
        return None


def _ask(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    capsys.readouterr()
    code = main([str(each) for each in arguments])
    told = capsys.readouterr()
    assert "Traceback" not in told.out + told.err, told.err
    assert code in DOCUMENTED, told.err
    assert code == ExitCode.OK or told.err.startswith("quiclab: "), told.err
    return code, told.out


def _ask_quickly(study: Path, whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every verb that reads."""
    for verb in (
        ("sql", study),
        ("sql", study, COUNT),
        ("sql", study, "SELECT count(*) FROM packets JOIN metrics USING (trial_id)"),
        ("compare", whole, study),
        ("note", study),
        ("note", study, "ffff", "unheard of"),
        ("plan", study / "spec.toml"),
        ("clean", study),
    ):
        _ask(capsys, *verb)


def _ask_everything(study: Path, whole: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Then the slow one, which writes all anew; its code."""
    before = _attempts(study)
    _ask_quickly(study, whole, capsys)
    code, told = _ask(capsys, "report", study)
    after = _attempts(study)
    assert before is None or (after is not None and after >= before), "the ledger has forgotten attempts"
    if code == ExitCode.OK:
        _, counted = _ask(capsys, "sql", study, COUNT, "--format", "csv")
        numbers = {line.split(",")[0]: int(line.split(",")[1]) for line in counted.splitlines()[1:]}
        assert sum(numbers.values()) >= TRIALS, "attempts have vanished from the table"
        if numbers.get("verified", 0) < TRIALS:
            assert re.search(r"\d damaged|Damaged", told), "a trial vanished in silence"
    return code


def _first(study: Path) -> str:
    return min(path.name for path in (study / "trials").iterdir())


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "harms", [HARMS_BY_DAY, *by_night([harm for harm in HARMS if harm not in HARMS_BY_DAY])], ids=["by day", "others"]
)
def test_a_spoiled_file(
    whole: Path, study: Path, file: str, harms: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each in every way; the report, which is slow, after those that no sentence of another verb is about."""
    path = study / file.format(_first(study))
    if not path.exists():
        pytest.fail(f"{file} is no file of a study any more")
    is_folder = path.is_dir()
    for name in harms:
        if is_folder and name not in ("removed", "a folder"):
            continue
        shutil.rmtree(study)
        shutil.copytree(whole, study)
        HARMS[name](path)
        (_ask_everything if name in ("removed", "half") else _ask_quickly)(study, whole, capsys)


@pytest.mark.parametrize("rows", [*BY_DAY, *by_night(*(rows for rows in ROWS if rows not in BY_DAY))])
def test_a_hostile_ledger(whole: Path, study: Path, rows: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows that no run has written name no folder, and hide no trial."""
    with closing(sqlite3.connect(study / "ledger.sqlite")) as ledger, ledger:
        ledger.execute(ROWS[rows])
    _ask_everything(study, whole, capsys)
    assert not list(study.parent.glob("*-aside*"))


@pytest.mark.parametrize(
    "name", ['it\'s; "quoted" $(id)', "b\udcffd", *by_night("st[1]", "a*b ?", "{x}", "ü\n", "-dash")]
)
def test_odd_names(whole: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A study is found by its own name, and by no pattern; what has no name in UTF-8 is refused."""
    study = Path(shutil.copytree(whole, tmp_path / name))
    (tmp_path / "st1").mkdir()
    (tmp_path / "st1" / "metrics.parquet").write_bytes(b"a neighbour's")
    code = _ask_everything(study, whole, capsys)
    assert code == (ExitCode.SPEC if "\udcff" in name else ExitCode.OK)


@pytest.mark.parametrize("harm", ["half", *by_night("removed")])
def test_nothing_is_drawn_again(whole: Path, study: Path, harm: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The next run says what is damaged, leaves the folder as it is, and runs nothing in its place."""
    folder = study / "trials" / _first(study)
    HARMS[harm](folder / "raw" / "client.pcapng")
    left = {file.name: file.stat().st_mtime_ns for file in (folder / "raw").iterdir()}
    done = quiclab("run", study)
    assert done.returncode == ExitCode.TRIALS_FAILED, done.stdout + done.stderr
    assert f"trial {folder.name} is damaged" in " ".join(done.stdout.split())
    assert {file.name: file.stat().st_mtime_ns for file in (folder / "raw").iterdir()} == left
    _, counted = _ask(capsys, "sql", study, COUNT, "--format", "csv")
    assert counted.splitlines()[1:] == ["damaged,1", "verified,1"]


def test_tables_follow_the_files_of_trials(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A capture that goes, and one that comes back, count at once: no report needs to be written before."""
    capture = study / "trials" / _first(study) / "raw" / "client.pcapng"
    kept = capture.read_bytes()
    capture.unlink()
    _, counted = _ask(capsys, "sql", study, COUNT, "--format", "csv")
    assert counted.splitlines()[1:] == ["damaged,1", "verified,1"]
    assert main(["sql", str(study), "SELECT 1"]) == ExitCode.OK
    assert "making tables" not in capsys.readouterr().err
    capture.write_bytes(kept)
    _, counted = _ask(capsys, "sql", study, COUNT, "--format", "csv")
    assert counted.splitlines()[1:] == ["verified,2"]


def test_a_damaged_trial_whose_ledger_is_lost(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next run adopts all, names it, and draws nothing anew; the report without a ledger says so."""
    folder = study / "trials" / _first(study)
    _half(folder / "raw" / "client.pcapng")
    (study / "ledger.sqlite").unlink()
    assert main(["report", str(study)]) == ExitCode.DECODE
    assert f"`quiclab run {study}` makes it anew from the 2 attempts" in " ".join(capsys.readouterr().err.split())
    done = quiclab("run", study)
    assert done.returncode == ExitCode.TRIALS_FAILED, done.stdout + done.stderr
    assert f"trial {folder.name} is damaged" in " ".join(done.stdout.split())
    assert not list((study / "failed").iterdir())
    _, counted = _ask(capsys, "sql", study, COUNT, "--format", "csv")
    assert counted.splitlines()[1:] == ["damaged,1", "verified,1"]


@pytest.mark.parametrize(("key", "value"), [("proof", []), *by_night(("link", 3), ("client", "x"), ("row", 1))])
def test_a_trial_json_of_other_types(
    whole: Path, study: Path, key: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trial is damaged, and no verb falls over it."""
    trial = study / "trials" / _first(study) / "trial.json"
    trial.write_text(json.dumps(json.loads(trial.read_text()) | {key: value}))
    assert _ask_everything(study, whole, capsys) == ExitCode.OK
    _, counted = _ask(capsys, "sql", study, COUNT, "--format", "csv")
    assert counted.splitlines()[1:] == ["damaged,1", "verified,1"]


@pytest.mark.parametrize(
    ("what", "harm"),
    [
        *(("resolved.json", "noise"), (".work", "noise"), (".lock", "a folder")),
        *by_night(("host.json", "noise"), (".lock", "noise"), ("tls", "noise")),
        *by_night(*((what, "a folder") for what in ("resolved.json", "host.json", ".work", "tls"))),
    ],
)
def test_a_run_on_what_is_spoiled(study: Path, what: str, harm: str) -> None:
    """One sentence, and the ledger as it was."""
    path = study / what
    if path.is_dir():
        shutil.rmtree(path)
    path.touch()
    HARMS[harm](path)
    before = _attempts(study)
    done = quiclab("run", study)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode in DOCUMENTED, done.stderr
    assert _attempts(study) == before


@pytest.mark.nightly
def test_a_table_that_was_half_written_is_made_again(study: Path) -> None:
    """By the next run, without a word: it is made from the logs."""
    tables = sorted((study / "tables").glob("*/*.parquet"))
    for table in tables[::7]:
        table.write_bytes(b"")
    done = quiclab("run", study)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(table.read_bytes()[-4:] == b"PAR1" for table in tables)
