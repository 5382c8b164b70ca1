# SPDX-License-Identifier: Apache-2.0
"""Studies that cannot be joined say why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from specs import SMALL, study_of

from quiclab.model.errors import SpecError
from quiclab.plan.make import grow_plan
from quiclab.spec.resolved import resolved_json
from quiclab.store.layout import SEQUENTIAL, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.merge import merge
from quiclab.study.sequential_run import Goal, keep_growth
from quiclab.study.specs import load_study


def _grown(root: Path, more: int = 2) -> StudyDir:
    """A study with `--until` that planned so many blocks more than its spec."""
    root.mkdir()
    study_of(root, SMALL)
    study_dir = StudyDir(root)
    study = load_study(study_dir.spec)
    blocks = {row.cell_id: study.blocks + more for row in grow_plan(study, {}) if row.kind == "main"}
    study_dir.resolved.write_text(json.dumps(resolved_json(study)))
    study_dir.host.write_text("{}")
    study_dir.create()
    keep_growth(study_dir, study, Goal(2.0, 400), blocks, [])
    with open_ledger(study_dir) as ledger:
        ledger.plan(grow_plan(study, blocks))
    return study_dir


def test_a_study_that_has_grown_is_not_held_against_itself(tmp_path: Path) -> None:
    """Of two that hold the same trials one is enough; one alone is no part of another."""
    grown = _grown(tmp_path / "grown")
    copy = StudyDir(shutil.copytree(grown.root, tmp_path / "copy"))
    with pytest.raises(SpecError, match="hold the same trials") as refused:
        merge(StudyDir(tmp_path / "whole"), [grown, copy])
    assert f"quiclab run {grown.root}" in refused.value.hint
    with pytest.raises(SpecError, match="has grown by --until") as refused:
        merge(StudyDir(tmp_path / "whole"), [grown])
    assert not (tmp_path / "whole").exists()


def test_a_part_that_was_to_go_on_is_told(tmp_path: Path) -> None:
    """The whole has the blocks of its spec, whatever was to decide how many a part has."""
    merged = merge(StudyDir(tmp_path / "whole"), [_grown(tmp_path / "part", more=0)])
    (told,) = merged.caveats
    assert "--until" in told
    assert not (tmp_path / "whole" / SEQUENTIAL).exists()
