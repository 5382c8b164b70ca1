# SPDX-License-Identifier: Apache-2.0
"""The test of the machine before a study's first trial."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_study import main_only, quiclab, write_spec

from quiclab.study.machine_check import LEAST_TRIALS

pytestmark = pytest.mark.netns


@pytest.mark.nightly
def test_the_machine_is_tested_where_enough_trials_are_left(tmp_path: Path) -> None:
    """Its numbers are in host.json, also when a later run is too short for a test; a document stays a document."""
    enough = {"size": "5 KB", "blocks": LEAST_TRIALS // 2, "disturbance": "99 %"}
    spec, study = main_only(write_spec(tmp_path, **enough)), tmp_path / "study"
    run = quiclab("run", spec, "--out", study, "--no-report", "--json")
    assert json.loads(run.stdout)
    check = json.loads((study / "host.json").read_text())["machine_check"]
    assert check["packets"] > 0
    assert check["fine"] is (check["told"] == "")
    assert (check["told"] in " ".join(run.stderr.split())) or not check["told"]
    quiclab("run", study, "--no-report")
    assert json.loads((study / "host.json").read_text())["machine_check"] == check


@pytest.mark.nightly
@pytest.mark.parametrize(("blocks", "disturbance"), [(1, "99 %"), (LEAST_TRIALS // 2, "100 %")])
def test_a_run_begins_at_once(tmp_path: Path, blocks: int, disturbance: str) -> None:
    """The check is not worth its time if few trials are left, or none of them can be disturbed too much."""
    spec = write_spec(tmp_path, size="5 KB", blocks=blocks, disturbance=disturbance)
    spec, study = main_only(spec), tmp_path / "study"
    quiclab("run", spec, "--out", study, "--no-report")
    assert "machine_check" not in json.loads((study / "host.json").read_text())
