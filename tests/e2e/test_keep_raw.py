# SPDX-License-Identifier: Apache-2.0
"""A study that does not keep its logs has all its results."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from by_night import by_night
from small_study import main_only, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.nightly
@pytest.mark.parametrize("jobs", ["1", *by_night("2")])
def test_results_stay_when_logs_go(tmp_path: Path, jobs: str) -> None:
    """Logs of the first pair stay, compressed; a report made anew says the same, and so does the same command again."""
    spec, study = main_only(write_spec(tmp_path, blocks=2, size="1 MB")), tmp_path / "study"
    words = ("run", spec, "--out", study, "--jobs", jobs, "--keep-raw", "pairs:1")
    done = quiclab(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "were not kept (--keep-raw pairs:1)" in " ".join(done.stdout.split())
    kept = {each["trial_id"]: each for each in trials(study)}
    without = {trial_id for trial_id, each in kept.items() if each.get("logs_left_out")}
    assert {each["row"]["block"] for trial_id, each in kept.items() if trial_id in without} == {1}
    for trial_id, each in kept.items():
        raw = study / "trials" / trial_id / "raw"
        assert raw.is_dir() == (trial_id not in without)
        packed = {str(file.relative_to(raw.parent)) for file in raw.rglob("*.gz")}
        assert packed <= {artefact["path"] for artefact in each["artefacts"]}
        assert bool(packed) == (trial_id not in without)
    before = pl.read_parquet(study / "metrics.parquet")
    assert set(before["trial_id"]) == set(kept)
    assert quiclab("report", study, "--again").returncode == 0
    assert pl.read_parquet(study / "metrics.parquet").sort(pl.all()).equals(before.sort(pl.all()))
    assert quiclab(*words, "--no-report").returncode == 0
    bundled = quiclab("bundle", study, "object/plain:1", "--out", tmp_path / "bundle.tar.gz")
    assert "2 trials, 2 of them without logs (--keep-raw), without keys" in bundled.stdout
    decoded = quiclab("decode", study / "trials" / min(without), "-o", tmp_path / "decoded")
    assert "its logs were not kept (--keep-raw pairs:1)" in decoded.stdout
    exported = quiclab("export", "qlog", study / "trials" / min(without), "-o", tmp_path / "exported")
    assert "its logs were not kept (--keep-raw pairs:1)" in exported.stdout


def test_a_finished_study_makes_room(tmp_path: Path) -> None:
    """Running it again with a rule runs nothing; a rule that there is not is refused."""
    spec, study = main_only(write_spec(tmp_path)), tmp_path / "study"
    assert quiclab("run", spec, "--out", study, "--no-report").returncode == 0
    began = {each["trial_id"]: each["started_utc"] for each in trials(study)}
    wrong = quiclab("run", study, "--keep-raw", "some")
    assert wrong.returncode == 2
    assert "'some' is no rule: give 'all'" in wrong.stderr
    assert list(study.glob("trials/*/raw"))
    done = quiclab("run", study, "--keep-raw", "none")
    assert done.returncode == 0
    assert f"logs and captures of {len(began)} attempts were not kept:" in done.stdout + done.stderr
    assert {each["trial_id"]: each["started_utc"] for each in trials(study)} == began
    assert not list(study.glob("trials/*/raw"))
    explained = quiclab("explain", study)
    assert explained.returncode == 0, explained.stderr
