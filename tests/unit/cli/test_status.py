# SPDX-License-Identifier: Apache-2.0
"""`quiclab status`: what it prints of a study that has stopped, and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confirming import DECLARED
from unit.cli.test_json import fits
from unit.study.test_progress import SPEC, Record, record, study, study_dir

from quiclab.cli.main import main
from quiclab.cli.own_name import as_typed
from quiclab.cli.run_document import counts
from quiclab.cli.status_document import StatusDocument
from quiclab.model.errors import ExitCode
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.plan.part import Part
from quiclab.spec.read import read_study
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.as_specified import planned_again
from quiclab.study.selection import keep_part
from quiclab.study.sequential_run import Goal, keep_growth
from quiclab.why.confirm.records import keep_declaration

__all__ = ["record", "study", "study_dir"]
_CELL = "1MB/p"


@pytest.fixture
def begun(study: Study, study_dir: StudyDir, record: Record, tmp_path: Path) -> str:
    """A study that has failed once, and stopped."""
    study_dir.spec.write_bytes((tmp_path / "spec.toml").read_bytes())
    record(grow_plan(study, {})[0], 1, "failed", "no answer")
    return str(study_dir.root)


def test_it_says_what_ran_what_went_wrong_and_how_to_go_on(begun: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", begun]) == ExitCode.OK
    told = " ".join(capsys.readouterr().out.split())
    assert f"{begun}: no process works on it 1 of 10 trials over; the rest takes about " in told
    assert "cell arm planned verified failed not run" in told
    assert "1 × failed: no answer (1MB/p" in told
    assert told.endswith(as_typed(f"to go on: quiclab run {begun}"))


def test_long_names_are_broken_between_their_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eighty columns hold every number; no name is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    text = SPEC.replace('name = "p"', 'name = "satellite-evening-bursts-5mbit"')
    found = StudyDir(tmp_path / "long")
    found.create()
    found.spec.write_text(text.replace('name = "h3"', 'name = "h3-openlitespeed-chromium"'))
    with open_ledger(found) as ledger:
        ledger.plan(grow_plan(read_study(found.spec), {}))
    assert main(["status", str(found.root)]) == ExitCode.OK
    told = capsys.readouterr().out
    table = told[told.index("cell ") :].partition("to go on")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert {"openlitespeed-", "chromium", "evening-", "bursts-5mbit"} <= {
        word for line in table for word in line.split()
    }


def test_a_part_that_is_over_goes_on_with_the_rest_of_the_plan(
    begun: str, study: Study, record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command of the part would go on with nothing."""
    plan = grow_plan(study, {})
    keep_part(StudyDir(Path(begun)), Part(blocks=1))
    assert main(["status", begun]) == ExitCode.OK
    *_, of_part, rest = capsys.readouterr().out.splitlines()
    assert of_part.endswith(as_typed(f"quiclab run {begun} --blocks 1"))
    assert rest.endswith(as_typed(f"quiclab run {begun}"))
    for row in Part(blocks=1).rows_of(plan):
        record(row, 2, "verified", "")
    assert main(["status", begun]) == ExitCode.OK
    *_, line = capsys.readouterr().out.splitlines()
    assert line.endswith(as_typed(f"quiclab run {begun}"))
    for row in set(plan) - set(Part(blocks=1).rows_of(plan)):
        record(row, 1, "verified", "")
    assert main(["status", begun]) == ExitCode.OK
    assert "quiclab run" not in capsys.readouterr().out


def test_a_damaged_ledger_is_told(begun: str, capsys: pytest.CaptureFixture[str]) -> None:
    (Path(begun) / "ledger.sqlite").write_bytes(b"SQLite format 3\0" + bytes(4000))
    assert main(["status", begun]) == ExitCode.DECODE
    assert "ledger.sqlite is damaged" in capsys.readouterr().err


def test_tables_without_a_ledger_are_no_study_that_has_not_run(begun: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As `quiclab sql` shows their trials."""
    (Path(begun) / "ledger.sqlite").unlink()
    (Path(begun) / "tables" / "trials.parquet").write_bytes(b"")
    assert main(["status", begun]) == ExitCode.DECODE
    told = capsys.readouterr().err
    assert "no ledger.sqlite" in told
    assert "begins it" not in told


def test_a_run_that_confirms_goes_on_by_the_command_that_began_it(
    begun: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_declaration(Path(begun), DECLARED)
    assert main(["status", begun]) == ExitCode.OK
    told = " ".join(capsys.readouterr().out.split())
    assert told.endswith("1MB/long --confirm --cause send_buffer_limited")


def test_the_document_has_the_form_of_the_reference(begun: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", begun, "--json"]) == ExitCode.OK
    document = json.loads(capsys.readouterr().out)
    assert fits(StatusDocument, document)
    assert (document["running"], document["pid"]) == (False, None)
    assert document["trials"] == {
        "planned": 10, "verified": 0, "failed": 1, "unproven": 0, "void": 0, "damaged": 0, "not_run": 9
    }  # fmt: skip
    assert sum(cell["trials"]["planned"] for cell in document["cells"]) == 10


def test_what_is_no_study_is_one_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", str(tmp_path)]) == ExitCode.DECODE
    assert "is not a study directory" in capsys.readouterr().err


def test_a_study_that_ended_before_it_began_says_how_to_begin(begun: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C came before the first trial was planned."""
    (Path(begun) / "ledger.sqlite").unlink()
    assert main(["status", begun]) == ExitCode.DECODE
    told = capsys.readouterr().err
    assert f"nothing of {begun} has run yet" in told
    assert as_typed(f"`quiclab run {begun}` begins it") in told


def _grow(begun: str, study: Study, blocks: dict[str, int], *states: str) -> None:
    looks = [{"pairs": {}, "states": {f"{_CELL} h3": each}} for each in states]
    keep_growth(StudyDir(Path(begun)), study, Goal(2.0, 8), blocks, looks)


def test_planned_is_one_number_wherever_it_is_told(
    begun: str, study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    """All verbs count five blocks of two arms, where the spec has three, and four control trials, although the ledger
    has those of the spec alone: a run was killed before the next ones."""
    _grow(begun, study, {_CELL: 5}, "open")
    told = []
    for verb in ("plan", "status"):
        assert main([verb, begun, "--json"]) == ExitCode.OK
        told.append(json.loads(capsys.readouterr().out))
    plan, status = told
    assert plan["trials"] == len(plan["order"]) == 14
    assert status["trials"]["planned"] == sum(cell["trials"]["planned"] for cell in status["cells"]) == 14
    assert counts(study, StudyDir(Path(begun))).planned == 14
    assert len(planned_again(StudyDir(Path(begun)), {}).rows) == 14
    assert plan["power"]["blocks"] == plan["matters"]["planned"] == 5
    assert main(["plan", begun]) == ExitCode.OK
    assert "With 4 that `run --until` or `ask` added, 14 trials are planned now." in capsys.readouterr().out


def test_a_study_that_is_not_decided_goes_on_until_it_is(
    begun: str, study: Study, record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plain `run` would end where the trials that are planned are over."""
    again = as_typed(f"quiclab run {begun} --until 2%")

    def last_line() -> str:
        assert main(["status", begun]) == ExitCode.OK
        return capsys.readouterr().out.splitlines()[-1]

    _grow(begun, study, {})
    assert last_line().endswith(again)
    for row in grow_plan(study, {}):
        record(row, 2, "verified", "")
    _grow(begun, study, {_CELL: 3}, "open")
    assert last_line().endswith(again)
    _grow(begun, study, {_CELL: 3}, "open", "different")
    assert "quiclab run" not in last_line(), "it is decided"
    for row in grow_plan(study, {_CELL: 8})[len(grow_plan(study, {})) :]:
        record(row, 1, "verified", "")
    _grow(begun, study, {_CELL: 8}, "open")
    assert "quiclab run" not in last_line(), "there are no more pairs"
