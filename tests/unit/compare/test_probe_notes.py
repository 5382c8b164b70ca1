# SPDX-License-Identifier: Apache-2.0
"""What limits a probe, as the report says it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from synthetic_study import Shape, write_study

from quiclab.compare.probe_notes import probe_notes
from quiclab.compare.study import read_study

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("clean",), blocks=2, aa_blocks=1, voids=frozenset())


def _probed(directory: Path, lengths: dict[str, int]) -> list[str]:
    """Notes of a study that was a probe, with bodies of these lengths by arm."""
    write_study(directory, SHAPE)
    resolved = json.loads((directory / "resolved.json").read_text())
    resolved["probe"] = {"targets": [{"name": "100 KB", "url": "https://a.test/"}]}
    (directory / "resolved.json").write_text(json.dumps(resolved))
    study = read_study(directory)
    for trial_id, arm in study.trials.select("trial_id", "arm").rows():
        file = directory / "trials" / trial_id / "trial.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"client": {"requests": [{"body_bytes": lengths[arm.partition("#")[0]]}]}}))
    return probe_notes(study)


def test_other_studies_have_none(tmp_path: Path) -> None:
    """Their servers are the laboratory's."""
    write_study(tmp_path, SHAPE)
    assert probe_notes(read_study(tmp_path)) == []


def test_the_servers_are_foreign(tmp_path: Path) -> None:
    """No logs and no TCP_INFO, and a path that no seed repeats; equal lengths need no word."""
    notes = _probed(tmp_path, {"h2": 5, "h3": 5})
    assert len(notes) == 2
    assert "no logs and no TCP_INFO" in notes[0]


def test_bodies_of_other_lengths(tmp_path: Path) -> None:
    """Times of different work are not to be compared without a word."""
    notes = _probed(tmp_path, {"h2": 5, "h3": 7})
    assert notes[2] == (
        "The bodies of https://a.test/ differ in length: h2 5 bytes; h3 7 bytes. Its times are not of the same work."
    )
