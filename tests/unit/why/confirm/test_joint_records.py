# SPDX-License-Identifier: Apache-2.0
"""Runs without several causes are told from their files, and not where these were changed afterwards."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from quiclab.report.words.together import document, in_a_line
from quiclab.why.confirm.declaration import Predicted, TrialPlace
from quiclab.why.confirm.factorial import Difference, Part, Together
from quiclab.why.confirm.joint_declaration import DeclaredTogether
from quiclab.why.confirm.joint_records import DECLARATION, RESULT, kept_together

_SPEC = b"[study]\n"
_DECLARED = DeclaredTogether(
    study="s",
    cell="1MB/p",
    arm="h3",
    alpha=0.05,
    seed=1,
    total_ms=1000.0,
    settings={"slow_start": ("sender", "initial_window", 64), "retry": ("server", "retry", False)},
    predicted={cause: Predicted(200.0, 190.0, 210.0, 0.95, 7) for cause in ("retry", "slow_start")},
    tolerance_ms={"retry": 50.0, "slow_start": 50.0},
    places={"": TrialPlace("1MB/p", "replay")},
    spec_sha256=hashlib.sha256(_SPEC).hexdigest(),
)
_NOTHING = Difference(None, None)
_FOUND = Together(
    (
        Part("retry", 1.0, Difference(80.0, None), _NOTHING, _NOTHING, decided=True),
        Part("slow_start", None, Difference(150.0, None), _NOTHING, _NOTHING, decided=False),
    ),
    Difference(230.0, None),
    8,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run that has a result."""
    found = tmp_path / "confirm" / "1MB-p-retry+slow_start-1"
    found.mkdir(parents=True)
    (found / "spec.toml").write_bytes(_SPEC)
    told = {"version": 1, "sha256": _DECLARED.sha256}
    (found / DECLARATION).write_text(json.dumps({**told, "declared": _DECLARED.document()}))
    (found / RESULT).write_text(json.dumps({**told, "final": False, **document(_DECLARED, _FOUND)}))
    return found


def test_a_run_is_told_with_its_parts(tmp_path: Path, folder: Path) -> None:
    (kept,) = kept_together(tmp_path)
    assert kept.sound
    assert (kept.directory, kept.cell, kept.arm) == (folder, "1MB/p", "h3")
    assert in_a_line(kept, {"retry": "Retry", "slow_start": "slow start"}) == (
        "Run without several causes: 1MB/p in h3 takes 230 ms less without all of them, in 8 blocks; of it "
        "Retry 80.0 ms and slow start 150 ms; not decided: slow start."
    )


@pytest.mark.parametrize(("name", "before", "after"), [("spec.toml", "study", "Study"), (DECLARATION, "1000.0", "1.0")])
def test_what_was_changed_afterwards_counts_for_nothing(
    tmp_path: Path, folder: Path, name: str, before: str, after: str
) -> None:
    file = folder / name
    file.write_text(file.read_text().replace(before, after))
    (kept,) = kept_together(tmp_path)
    assert not kept.sound
    assert "counts for nothing" in in_a_line(kept, {})


@pytest.mark.parametrize("text", ["", "[]", '{"sha256": 1}'])
def test_what_no_run_wrote_is_passed_over(tmp_path: Path, folder: Path, text: str) -> None:
    (folder / RESULT).write_text(text)
    assert kept_together(tmp_path) == []
