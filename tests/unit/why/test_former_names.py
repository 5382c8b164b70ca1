# SPDX-License-Identifier: Apache-2.0
"""Names of mechanisms from earlier versions are understood: on the command line, in tables, and in declarations."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from confirming import DECLARED
from planned_confirmation import BUFFER, plan, write

from quiclab.cli.main import main
from quiclab.compare.study_tables import open_study
from quiclab.model.errors import ExitCode
from quiclab.model.mechanism_names import FORMER, FORMER_FACTS, current_name, names_of
from quiclab.spec.read import read_study
from quiclab.study.confirm.plan import Asked
from quiclab.study.confirm.together import plan_together
from quiclab.why.confirm.joint_records import DECLARATION, RESULT, kept_together
from quiclab.why.confirm.records import keep_declaration, read_confirmation
from quiclab.why.mechanisms import BY_NAME

OLD, NEW = "senders_buffer", "send_buffer_limited"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study whose tables name the mechanism as an earlier version did."""
    return write(
        tmp_path / "s",
        {arm: {OLD if name == NEW else name: ms for name, ms in own.items()} for arm, own in BUFFER.items()},
    )


def test_a_former_name_leads_to_a_mechanism_and_is_none_itself() -> None:
    assert {name for name in FORMER.values() if name not in BY_NAME} == set()
    assert FORMER.keys() & BY_NAME.keys() == set()
    assert current_name("slow_start") == "slow_start"
    assert names_of(NEW) == (OLD, NEW)


@pytest.mark.parametrize("former", FORMER)
def test_the_command_explains_a_mechanism_by_its_former_name(former: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for name in (former, FORMER[former]):
        assert main(["causes", name]) == ExitCode.OK
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


@pytest.mark.parametrize("former", FORMER)
def test_tables_name_mechanisms_as_this_version_does(former: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "s", {"h2": {"": 800.0, "slow_start": 50.0}, "h3": {"": 600.0, former: 1000.0}})
    opened = open_study(folder)
    names = {None, "slow_start", FORMER[former]}
    assert set(opened.table("account_totals")["mechanism"]) == names
    assert set(opened.scan("account_totals").collect()["mechanism"]) == names
    assert set(opened.sql("SELECT mechanism FROM account_totals")["mechanism"]) == names
    one = opened.trial_table("account_totals", "10")
    assert one is not None
    assert set(one["mechanism"]) == {None, FORMER[former]}


@pytest.mark.parametrize("former", FORMER_FACTS)
def test_tables_name_numbers_as_this_version_does(former: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "s", {"h2": {"": 800.0, "slow_start": 50.0}, "h3": {"": 600.0}})
    for file in (folder / "tables" / "mechanism_facts").iterdir():
        pl.read_parquet(file).with_columns(fact=pl.lit(former)).write_parquet(file)
    opened = open_study(folder)
    assert set(opened.table("mechanism_facts")["fact"]) == {FORMER_FACTS[former]}
    assert set(opened.sql("SELECT fact FROM mechanism_facts")["fact"]) == {FORMER_FACTS[former]}


def test_a_wait_of_the_same_name_keeps_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "s")
    for file in (folder / "tables" / "account_totals").iterdir():
        pl.read_parquet(file).with_columns(why=pl.lit("receive_window")).write_parquet(file)
    opened = open_study(folder)
    assert set(opened.table("account_totals")["why"]) == {"receive_window"}
    assert set(opened.sql("SELECT why FROM account_totals")["why"]) == {"receive_window"}


def test_a_cause_is_put_to_the_test_by_its_former_name(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for name in (OLD, NEW):
        assert main(["explain", str(study), "1MB/p", "--confirm", "--cause", name, "--dry-run"]) == ExitCode.OK
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert f"({NEW})" in told[0]


def test_a_run_that_was_declared_by_a_former_name_counts_and_goes_on(study: Path) -> None:
    now = plan(study)
    assert now.directory.name == f"1MB-p-{NEW}-1"
    earlier = now.directory.with_name(f"1MB-p-{OLD}-1")
    earlier.mkdir(parents=True)
    made = plan(study)
    assert made.directory == earlier  # the seed follows from it
    (earlier / "spec.toml").write_text(made.spec)
    keep_declaration(earlier, replace(made.declared, cause=OLD))
    found = read_confirmation(earlier)
    assert found is not None
    assert (found.sound, found.declared.mechanism) == (True, NEW)
    again = plan(study)
    assert (again.begun, again.directory, again.declared) == (True, earlier, found.declared)


def test_a_run_without_several_causes_is_told_by_todays_names(tmp_path: Path) -> None:
    times = {"h2": {"": 800.0, "slow_start": 400.0, "receive_window": 200.0}, "h3": {"": 800.0, "loss_timer": 9.0}}
    folder = write(tmp_path / "s", times)
    spec = read_study(folder / "spec.toml")
    made = plan_together(Asked(folder, "1MB/p"), ["slow_start", FORMER["receive_window"]], spec)
    assert set(made.declared.predicted) == {"slow_start", "receive_window_limited"}
    kept = folder / "confirm" / "1MB-p-receive_window+slow_start-1"
    kept.mkdir(parents=True)
    (kept / "spec.toml").write_bytes(b"[study]\n")
    declared = {"cell": "1MB/p", "arm": "h2", "spec_sha256": hashlib.sha256(b"[study]\n").hexdigest()}
    text = json.dumps(declared, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    parts = [{"cause": "receive_window", "decided": False, "part": {"ms": 20.0}}]
    result = {"sha256": sha256, "blocks": 8, "whole": {"ms": 50.0}, "parts": parts}
    (kept / DECLARATION).write_text(json.dumps({"sha256": sha256, "declared": declared}))
    (kept / RESULT).write_text(json.dumps(result))
    (found,) = kept_together(folder)
    assert found.sound
    assert (found.parts_ms, found.open_parts) == ({"receive_window_limited": 20.0}, ("receive_window_limited",))


def test_the_command_to_go_on_has_the_name_of_today(study: Path) -> None:
    keep_declaration(study, replace(DECLARED, cause=OLD))
    found = read_confirmation(study)
    assert found is not None
    assert found.declared.document()["cause"] == OLD
    assert found.declared.mechanism == NEW
