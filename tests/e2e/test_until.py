# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --until 5%` with real programs: it goes on where a cell is open, and stops where it is decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_study import quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.nightly
def test_goes_on_until_it_is_decided(tmp_path: Path) -> None:
    """Six pairs cannot decide, however clear the difference; eight of one sign do, and the ninth is never run."""
    study = tmp_path / "study"
    # H2's handshake takes a round trip more: longer than a busy machine keeps one trial of H3 waiting.
    spec = write_spec(tmp_path, blocks=6, size="10 KB")
    spec.write_text(spec.read_text().replace('delay = "5 ms"', 'delay = "200 ms"'))
    done = quiclab("run", spec, "--out", study, "--until", "5%", "--at-most", "20", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    looks = json.loads((study / "sequential.json").read_text())["looks"]
    assert [list(look["pairs"].values()) for look in looks] == [[6], [8]]
    assert [list(look["states"].values()) for look in looks] == [["open"], ["different"]]
    main = [trial for trial in trials(study) if trial["row"]["kind"] == "main"]
    assert len(main) == 16
    report = (study / "report.html").read_text()
    assert "This study was sequential" in report
    assert "When it stopped" in report

    again = quiclab("run", study, "--until", "5%", "--at-most", "20", timeout=120)
    assert again.returncode == 0, again.stdout + again.stderr
    assert len([trial for trial in trials(study) if trial["row"]["kind"] == "main"]) == 16


def test_damaged_growth_is_told_before_anything_runs(tmp_path: Path) -> None:
    """Its looks are not forgotten: the file stays, and no trial is added to those that somebody has seen."""
    study, growth = tmp_path / "study", tmp_path / "study" / "sequential.json"
    spec = write_spec(tmp_path, blocks=2, size="10 KB")
    assert quiclab("run", spec, "--out", study, "--blocks", "1", "--no-report", timeout=120).returncode in (0, 8)
    before = len(trials(study))
    growth.write_text('{"version": 1, "looks": [')
    for more in ((), ("--until", "5%")):
        done = quiclab("run", study, *more, timeout=120)
        assert (done.returncode, "Traceback" in done.stderr, str(growth) in done.stderr) == (4, False, True), done
    assert growth.read_text() == '{"version": 1, "looks": ['
    assert len(trials(study)) == before
