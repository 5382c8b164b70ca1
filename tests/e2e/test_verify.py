# SPDX-License-Identifier: Apache-2.0
"""`quiclab verify`: a study is what its raw files give, and each thing that is changed in it is found."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from small_study import main_only, quiclab, trials, write_spec

from quiclab.cli.documents import VerifyDocument
from quiclab.store.keep_raw import leave_logs_out
from quiclab.store.layout import BLOCK_VOID, StudyDir
from quiclab.study.verification import Verification, verification

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of two trials with its tables."""
    folder = tmp_path_factory.mktemp("verified")
    done = quiclab("run", main_only(write_spec(folder, blocks=1)), "--out", folder / "study")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "study"


def _everything(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_study_as_it_was_run(study: Path) -> None:
    """Every number follows, and nothing is written, also where nothing can be."""
    before = _everything(study)
    read_only = f'mount --bind -o ro {study} {study} && ! touch {study}/x; exec "$@"'
    inside = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", read_only, "sh")
    done = quiclab("verify", study, "--json", before=inside)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document.keys() == set(VerifyDocument.__dataclass_fields__)
    assert [each["state"] for each in document["attempts"]] == ["same", "same"]
    assert (document["differences"], document["unchecked"], document["other_tables"]) == ([], [], [])
    assert document["run_by"] == document["quiclab"]
    assert "2 of 2 attempts: every number follows from its raw files." in done.stderr
    assert _everything(study) == before


def _h3(study: Path) -> dict[str, Any]:
    """The trial.json of the trial over HTTP/3."""
    (found,) = (each for each in trials(study) if each["protocol"] == "h3")
    return found


def _rewrite(study: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = _h3(study)
    file = study / "trials" / document["trial_id"] / "trial.json"
    change(document)
    file.write_text(json.dumps(document))


def _ledger(study: Path, command: str, *values: object) -> None:
    with closing(sqlite3.connect(study / "ledger.sqlite")) as database, database:
        database.execute(command, values)


def _halve(file: Path) -> None:
    table = pl.read_parquet(file)
    value = pl.when(pl.col("name") == "ttlb_ms").then(pl.col("value") / 2).otherwise(pl.col("value"))
    table.with_columns(value.alias("value")).write_parquet(file)


def _faster(study: Path) -> None:
    _halve(study / "tables" / "metrics" / f"{_h3(study)['trial_id']}.parquet")


def _faster_in_all(study: Path) -> None:
    _halve(study / "metrics.parquet")


def _another_table(study: Path) -> None:
    file = study / "tables" / "ip_packets" / f"{_h3(study)['trial_id']}.parquet"
    pl.read_parquet(file).with_columns(pl.col("time_ns") + 1).write_parquet(file)


def _another_proof(study: Path) -> None:
    _rewrite(study, lambda trial: trial["proof"].update(http_version="HTTP/2"))


def _another_account(study: Path) -> None:
    _rewrite(study, lambda trial: trial["client"]["requests"][0].update(last_byte_ns=5))


def _another_link(study: Path) -> None:
    _rewrite(study, lambda trial: trial["link"]["down"].update(delivered=1))


def _another_expectation(study: Path) -> None:
    _rewrite(study, lambda trial: trial["expected"].update(body_bytes=5))


def _another_arm(study: Path) -> None:
    """In the ledger and in trial.json alike, so that only the plan tells."""
    row = _h3(study)["row"] | {"arm": "h2", "arm_name": "h2"}
    _ledger(study, "UPDATE trials SET row = ? WHERE trial_id = ?", json.dumps(row), row["trial_id"])
    _rewrite(study, lambda trial: trial.update(row=row))


def _failed(study: Path) -> None:
    trial = _h3(study)["trial_id"]
    _rewrite(study, lambda trial: trial.update(status="failed", reason="the server was gone"))
    (study / "trials" / trial).rename(study / "failed" / f"{trial}-attempt1")
    _ledger(study, "UPDATE attempts SET status = 'failed', reason = 'the server was gone' WHERE trial_id = ?", trial)


def _void(reason: str) -> Callable[[Path], None]:
    def change(study: Path) -> None:
        trial = _h3(study)["trial_id"]
        (study / "trials" / trial).rename(study / "failed" / f"{trial}-attempt1")
        _ledger(study, "UPDATE attempts SET status = 'void', reason = ? WHERE trial_id = ?", reason, trial)

    return change


def _verdict_of_all(study: Path) -> None:
    file = study / "tables" / "trials.parquet"
    pl.read_parquet(file).with_columns(pl.lit("failed").alias("status")).write_parquet(file)


def _another_network(study: Path) -> None:
    """In the spec and in what reports name, so that only the links tell."""
    spec, resolved = study / "spec.toml", study / "resolved.json"
    spec.write_text(spec.read_text().replace('"20 Mbit/s"', '"2000 Mbit/s"'))
    resolved.write_text(resolved.read_text().replace("20000000", "2000000000"))


def _another_resolved(study: Path) -> None:
    resolved = study / "resolved.json"
    resolved.write_text(resolved.read_text().replace("20000000", "2000000000"))


def _limits(study: Path, *, also_earlier: bool = False) -> None:
    """In the spec and in what reports read, so that only the trials tell by which limit they were judged."""
    spec, resolved = study / "spec.toml", study / "resolved.json"
    spec.write_text(spec.read_text().replace('disturbance = "100 %"', 'disturbance = "1 %"'))
    document = json.loads(resolved.read_text())
    earlier = {"earlier_limits": [document["limits"]]} if also_earlier else {}
    resolved.write_text(json.dumps({**document, **earlier, "limits": {**document["limits"], "disturbance_pct": 1.0}}))


def _limits_of_spec(study: Path) -> None:
    spec = study / "spec.toml"
    spec.write_text(spec.read_text().replace('trial = "20 s"', 'trial = "30 s"'))


def _level(study: Path) -> None:
    resolved = study / "resolved.json"
    resolved.write_text(json.dumps(json.loads(resolved.read_text()) | {"alpha": 0.2}))


def _another_attempt(study: Path) -> None:
    trial = _h3(study)["trial_id"]
    _ledger(study, "UPDATE attempts SET attempt = 2 WHERE trial_id = ?", trial)


_CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "metric": (_faster, "tables/metrics ttlb_ms"),
    "metric of the study": (_faster_in_all, "metrics.parquet value"),
    "table": (_another_table, "tables/ip_packets time_ns"),
    "proof": (_another_proof, "trial.json proof.http_version"),
    "account": (_another_account, "trial.json client.requests[0].last_byte_ns"),
    "link": (_another_link, "trial.json link.down.delivered"),
    "expectation": (_another_expectation, "trial.json expected.body_bytes"),
    "consequence of an expectation": (_another_expectation, "ledger.sqlite status"),
    "hash": (
        lambda study: _rewrite(study, lambda trial: trial["expected"].update(sha256="0" * 64)),
        "trial.json expected.sha256",
    ),
    "account that is gone": (
        lambda study: _rewrite(study, lambda trial: trial.update(client=None)),
        "trial.json client",
    ),
    "clock": (
        lambda study: _rewrite(study, lambda trial: trial["clock"].update(realtime_minus_monotonic_end_ns=5)),
        "trial.json clock.realtime_minus_monotonic_end_ns",
    ),
    "begin": (
        lambda study: _rewrite(study, lambda trial: trial.update(started_utc="2020-01-01T00:00:00.000+00:00")),
        "trial.json started_utc",
    ),
    "arm": (_another_arm, "trial.json row.arm"),
    "failed": (_failed, "ledger.sqlite status"),
    "void": (_void("the machine was busy"), "ledger.sqlite status"),
    "void with its block": (_void(BLOCK_VOID), "ledger.sqlite status"),
    "network": (_another_network, "raw/link-config.json links.0.up.rate_bit_per_s"),
    "resolved spec": (_another_resolved, "resolved.json"),
    "limits": (_limits, "trial.json tolerated"),
    "limits of the spec": (_limits_of_spec, "resolved.json limits.trial_ns"),
    "level": (_level, "resolved.json alpha"),
    "content": (lambda study: _rewrite(study, lambda trial: trial.update(content="text")), "trial.json content"),
    "client": (lambda study: _rewrite(study, lambda trial: trial.update(own_client=True)), "trial.json own_client"),
    "sender": (
        lambda study: _rewrite(study, lambda trial: trial.update(sender_program="nginx")),
        "trial.json sender_program",
    ),
    "handshake": (
        lambda study: _rewrite(study, lambda trial: trial["asked"].update(session="resumed")),
        "trial.json asked.session",
    ),
    "attempt": (_another_attempt, "ledger.sqlite attempt"),
    "verdicts of the study": (_verdict_of_all, "tables/trials status"),
}
_BY_DAY = ("metric", "table", "proof", "link", "arm", "failed", "void", "network", "limits", "verdicts of the study")
"""Changes in each kind of file."""


@pytest.mark.parametrize("name", [*_BY_DAY, *by_night(*(name for name in _CHANGES if name not in _BY_DAY))])
def test_what_is_changed_is_found(tmp_path: Path, study: Path, name: str) -> None:
    """In tables, ledger, trial.json or all of them together."""
    changed = tmp_path / "study"
    shutil.copytree(study, changed)
    change, place = _CHANGES[name]
    change(changed)
    before = _everything(changed)
    found = verification(StudyDir(changed))
    assert found.differs
    assert any(each.startswith(place) for each in _places(found)), _places(found)
    assert _everything(changed) == before


def test_limits_of_an_earlier_run_are_no_difference(tmp_path: Path, study: Path) -> None:
    """A study may go on with other limits: it keeps those by which its trials were judged."""
    changed = shutil.copytree(study, tmp_path / "study")
    _limits(changed, also_earlier=True)
    assert not _places(verification(StudyDir(changed)))


def _places(found: Verification) -> list[str]:
    differences = [*found.differences, *(each for attempt in found.attempts for each in attempt.differences)]
    return [f"{each.place} {each.what}" for each in differences]


def _without_logs(study: Path) -> None:
    leave_logs_out(study / "trials" / _h3(study)["trial_id"], "none")


def _without_keys(study: Path) -> None:
    _rewrite(study, lambda trial: trial.update(keys_left_out=True))


def _cut(study: Path) -> None:
    os.truncate(study / "trials" / _h3(study)["trial_id"] / "raw" / "client.pcapng", 100)


def _without_the_folder(study: Path) -> None:
    shutil.rmtree(study / "trials" / _h3(study)["trial_id"])


def _of_another_form(study: Path) -> None:
    _rewrite(study, lambda trial: trial.update(host=[]))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_without_logs, "--keep-raw none"),
        (_without_keys, "keys were left out"),
        (_cut, "raw/client.pcapng has 100 bytes"),
        (_of_another_form, "host is no object"),
    ],
)
def test_what_cannot_be_verified_is_told(tmp_path: Path, study: Path, change: Any, told: str) -> None:
    """The others are verified."""
    shutil.copytree(study, tmp_path / "study")
    change(tmp_path / "study")
    found = verification(StudyDir(tmp_path / "study"))
    assert not found.is_whole
    states = {each.arm: (each.state, each.reason) for each in found.attempts}
    assert states["h2"] == ("same", "")
    assert states["h3"][0] == "not_verified"
    assert told in states["h3"][1]


def test_members_that_are_null_are_no_reason_not_to_judge(tmp_path: Path, study: Path) -> None:
    """They stand for what is not known, which is not what the spec asks for."""
    shutil.copytree(study, tmp_path / "study")
    _rewrite(tmp_path / "study", lambda trial: trial.update(host=None, time_ns=None, asked=None))
    found = verification(StudyDir(tmp_path / "study"))
    (changed,) = (each for each in found.attempts if each.arm == "h3")
    assert changed.state == "differs"
    assert "asked" in {each.what for each in changed.differences}


def _without_a_trial(study: Path) -> None:
    trial = _h3(study)["trial_id"]
    shutil.rmtree(study / "trials" / trial)
    for table in ("attempts", "trials"):
        _ledger(study, f"DELETE FROM {table} WHERE trial_id = ?", trial)


def _without_earlier_attempts(study: Path) -> None:
    _rewrite(study, lambda trial: trial.update(attempt=3))
    _another_attempt(study)


_SEEN = json.dumps({"when_utc": "2026-01-01T00:00:00+00:00", "planned": 2, "blocks": {"object/plain": 2}, "alpha": 0.05,
                    "metrics": ["ttlb_ms"]})  # fmt: skip


def _look(study: Path, line: str) -> None:
    (study / "looks.jsonl").write_text(f"{line}\n")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_without_a_trial, "1 of 2 planned trials are missing"),
        (_without_earlier_attempts, "lacks 2 attempts"),
        (lambda study: (study / "metrics.parquet").unlink(), "There is no metrics.parquet"),
        (lambda study: (study / "trials" / "mine").mkdir(), "trials/mine"),
        (lambda study: (study / "host.json").write_text("null"), "host.json cannot be read: it holds no JSON object"),
        (lambda study: (study / "host.json").unlink(), "host.json cannot be read: it is not there"),
        (lambda study: _look(study, "{"), "1 line that cannot be read"),
        (lambda study: _look(study, _SEEN), "2 blocks of object/plain"),
    ],
)
def test_what_was_taken_out_is_told(tmp_path: Path, study: Path, change: Any, told: str) -> None:
    """Numbers that are left may all be true, and be those that somebody chose."""
    shutil.copytree(study, tmp_path / "study")
    change(tmp_path / "study")
    found = verification(StudyDir(tmp_path / "study"))
    assert not found.is_whole
    assert any(told in each for each in found.unchecked), found.unchecked


@pytest.mark.nightly
def test_exit_codes_and_cells(tmp_path: Path, study: Path) -> None:
    """1 where something differs, 8 where nothing does and not all could be verified, 2 for a cell that is not there."""
    shutil.copytree(study, tmp_path / "study")
    _without_logs(tmp_path / "study")
    assert quiclab("report", tmp_path / "study", "-q").returncode == 0
    partly = quiclab("verify", tmp_path / "study")
    assert partly.returncode == 8, partly.stdout
    assert "1 of 2 attempts: every number follows from its raw files; 1 could not be verified." in partly.stdout
    _halve(tmp_path / "study" / "metrics.parquet")
    assert quiclab("verify", tmp_path / "study").returncode == 1
    assert quiclab("verify", study, "--cell", "x/y").returncode == 2
    assert quiclab("verify", tmp_path).returncode == 4
    cell = _h3(study)["row"]["cell_id"]
    assert quiclab("verify", study, "--cell", cell).returncode == 0


@pytest.mark.parametrize("damages", [_cut, *by_night(_without_the_folder)])
def test_a_damaged_trial_is_not_verified_and_differs_in_nothing(
    tmp_path: Path, study: Path, damages: Callable[[Path], object]
) -> None:
    """The exit code is 8, as the reference has it, although its tables were made while it was whole."""
    copy = shutil.copytree(study, tmp_path / "study")
    damages(copy)
    done = quiclab("verify", copy)
    assert done.returncode == 8, done.stdout
    assert "1 of 2 attempts" in done.stdout
    _halve(copy / "metrics.parquet")
    assert quiclab("verify", copy).returncode == 1


@pytest.mark.parametrize("status", ["unproven", *by_night("failed", "void")])
def test_a_verdict_that_was_changed_in_the_ledger_alone(tmp_path: Path, study: Path, status: str) -> None:
    """The folder is where the true verdict put it: a difference, and no trial that is gone."""
    copy = shutil.copytree(study, tmp_path / "study")
    trial = _h3(copy)["trial_id"]
    _ledger(copy, "UPDATE attempts SET status = ?, reason = ? WHERE trial_id = ?", status, BLOCK_VOID, trial)
    found = verification(StudyDir(copy))
    (changed,) = (each for each in found.attempts if each.arm == "h3")
    assert (changed.state, changed.reason) == ("differs", "")
    told = {(each.place, each.what, each.kept, each.found, each.by) for each in changed.differences}
    assert ("ledger.sqlite", "status", status, "verified", f"its folder, trials/{trial}") in told


@pytest.mark.nightly
def test_another_version_is_told(tmp_path: Path, study: Path) -> None:
    """Numbers of another version may be defined otherwise."""
    shutil.copytree(study, tmp_path / "study")
    host = json.loads((study / "host.json").read_text())
    (tmp_path / "study" / "host.json").write_text(json.dumps(host | {"quiclab": "0.0.1"}))
    done = quiclab("verify", tmp_path / "study")
    assert done.returncode == 0
    assert "it was run by quiclab 0.0.1" in done.stdout
