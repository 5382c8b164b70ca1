# SPDX-License-Identifier: Apache-2.0
"""System calls are counted after the timed trials, and nothing of that is among them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from small_study import main_only, quiclab, trials, write_spec

from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger

_TRIALS = 6
"""Two arms in one cell, and each against itself."""


def counting_spec(folder: Path) -> Path:
    """A small study that asks for counts."""
    spec = write_spec(folder)
    spec.write_text(spec.read_text().replace("[study]\n", "[study]\ncount_system_calls = true\n"))
    return spec


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: apt-get install -y strace")
def test_calls_are_counted_beside_the_timed_trials(tmp_path: Path) -> None:
    """Every program has its counts, ledger and trials are those of the plan, and what is counted is not run again."""
    spec, study = counting_spec(tmp_path), tmp_path / "study"
    done = quiclab("run", spec, "--out", study)
    assert done.returncode == 0, done.stdout + done.stderr
    for arm, receives in (("h2", {"recvfrom", "read", "recvmsg"}), ("h3", {"recvmmsg", "recvmsg", "recvfrom"})):
        counts = json.loads((study / "system-calls" / f"{arm}.json").read_text())
        assert (counts["body_right"], counts["body_bytes"], counts["workload"]) == (True, 30_000, "object"), counts
        for role in ("client", "server"):
            told = counts["roles"][role]
            assert told["calls"]["execve"] >= 1
            assert receives & told["calls"].keys()
            assert told["total"] == sum(told["calls"].values())
            assert told["calls_per_mb"] == pytest.approx(told["total"] / 0.03, rel=1e-3)
    assert len(trials(study)) == _TRIALS
    with open_ledger(StudyDir(study)) as ledger:
        assert sum(map(len, ledger.attempts().values())) == _TRIALS
    assert pl.read_parquet(study / "tables" / "trials.parquet").height == _TRIALS
    data = pl.read_csv(study / "report" / "data" / "system_calls.csv")
    assert set(data.select("arm", "role").iter_rows()) == {(a, r) for a in ("h2", "h3") for r in ("client", "server")}

    (study / "system-calls" / "h3.json").unlink()  # as if the run had been interrupted between the two
    kept = (study / "system-calls" / "h2.json").stat().st_mtime_ns
    done = quiclab("run", study, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((study / "system-calls" / "h3.json").read_text())["body_right"] is True
    assert (study / "system-calls" / "h2.json").stat().st_mtime_ns == kept


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: apt-get install -y strace")
def test_calls_that_are_counted_in_blocks_make_pairs(tmp_path: Path) -> None:
    """A trial beside each timed one of the first two blocks; the third has no pair, and the control none."""
    spec, study = write_spec(tmp_path, blocks=3), tmp_path / "study"
    keys = '[study]\ncount_system_calls = 2\nmetric = "client_system_calls"\n'
    spec.write_text(spec.read_text().replace("[study]\n", keys))
    done = quiclab("run", spec, "--out", study)
    assert done.returncode == 0, done.stdout + done.stderr
    table = pl.read_parquet(study / "tables" / "trials.parquet").select("trial_id", "kind", "arm", "block")
    metrics = pl.read_parquet(study / "metrics.parquet").join(table, on="trial_id")
    found = metrics.filter(pl.col("name").str.ends_with("_system_calls"), pl.col("value").is_not_null())
    assert set(found.select("name", "kind", "arm", "block").iter_rows()) == {
        (f"{role}_system_calls", "main", arm, block)
        for role in ("client", "server")
        for arm in ("h2", "h3")
        for block in (0, 1)
    }
    for trial_id, name, value in found.select("trial_id", "name", "value").iter_rows():
        counts = json.loads((study / "system-calls" / "trials" / f"{trial_id}.json").read_text())
        assert counts["roles"][name.removesuffix("_system_calls")]["total"] == value
        assert counts["body_right"] is True
    differences = pl.read_csv(study / "report" / "data" / "differences.csv").filter(metric="client_system_calls")
    assert dict(differences.select("other_arm", "pairs").iter_rows())["h3"] == 2
    assert {file.stem for file in (study / "system-calls").glob("*.json")} == {"h2", "h3"}
    assert quiclab("verify", study).returncode == 0

    spec.write_text(spec.read_text().replace("= 2\n", '= "every block"\n', 1))
    kept = {file.name: file.stat().st_mtime_ns for file in (study / "system-calls" / "trials").iterdir()}
    done = quiclab("run", spec, "--out", study, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    after = {file.name: file.stat().st_mtime_ns for file in (study / "system-calls" / "trials").iterdir()}
    assert len(after) == 6
    assert after.items() > kept.items()


@pytest.mark.nightly
def test_without_strace_the_reason_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the study is as good as without the wish."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            if program.name != "strace" and not (programs / program.name).is_symlink():
                (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    done = quiclab("run", main_only(counting_spec(tmp_path)), "--out", tmp_path / "study")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "system calls are not counted: strace is not installed" in " ".join(done.stdout.split())
    for arm in ("h2", "h3"):
        counts = json.loads((tmp_path / "study" / "system-calls" / f"{arm}.json").read_text())
        assert "apt-get install -y strace" in counts["unsupported"]
    assert "unsupported: strace is not installed" in (tmp_path / "study" / "report.html").read_text()
