# SPDX-License-Identifier: Apache-2.0
"""Rules by which trials keep their raw files; a trial without them is whole at any instant."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from quiclab.store import keep_raw
from quiclab.store.keep_raw import KeepRaw, leave_logs_out, raw_bytes
from quiclab.store.layout import BLOCK_VOID, Attempt, judged_document

VERIFIED, FAILED = Attempt("7e57", 1, "verified", ""), Attempt("7e57", 1, "failed", "the client crashed")
VOID, WITH_IT = Attempt("7e57", 1, "void", "the link was late"), Attempt("7e57", 1, "void", BLOCK_VOID)


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("all", [VERIFIED, FAILED, VOID, WITH_IT]),
        ("failures", [FAILED, VOID, WITH_IT]),
        ("pairs:3", [VERIFIED, FAILED, VOID, WITH_IT]),
        ("pairs:2", [FAILED, VOID, WITH_IT]),
        ("none", []),
        ("1 GB", [VERIFIED, FAILED, VOID, WITH_IT]),
    ],
)
def test_rules(rule: str, kept: list[Attempt]) -> None:
    """Attempts of a void block are kept together."""
    keep = KeepRaw.parse(rule)
    assert keep.rule == rule
    assert [each for each in (VERIFIED, FAILED, VOID, WITH_IT) if keep.keeps(each, 2)] == kept


@pytest.mark.parametrize("rule", ["", "some", "pairs", "pairs:0", "pairs:-1", "pairs:³", "5", "1 Gbit/s", "ALL", "0GB"])
def test_other_rules_are_refused_with_those_that_there_are(rule: str) -> None:
    """Numbers in other scripts, and no room at all, too."""
    with pytest.raises(ValueError, match=r"no rule|no room"):
        KeepRaw.parse(rule)


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """A judged trial with one capture."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "client.pcapng").write_bytes(b"packets")
    document = {"trial_id": "7e57", "attempt": 1, "status": "verified", "reason": ""}
    artefacts = [{"path": "raw/client.pcapng", "bytes": 7}]
    (tmp_path / "trial.json").write_text(json.dumps(document | {"artefacts": artefacts}))
    return tmp_path


def test_raw_files_go_and_the_verdict_stays(trial: Path) -> None:
    """With the rule by which they went."""
    assert raw_bytes(trial) == 7
    assert leave_logs_out(trial, "failures") == 7
    assert [file.name for file in trial.iterdir()] == ["trial.json"]
    document = judged_document(trial)
    assert document is not None
    assert (document["status"], document["artefacts"], document["logs_left_out"]) == ("verified", [], "failures")
    assert raw_bytes(trial) == 0


def test_it_goes_on_where_it_was_interrupted(trial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is missing that is registered; the next call removes what is left, and keeps the first rule."""

    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            keep_raw.leave_logs_out(trial, "failures")
    assert (judged_document(trial) or {})["artefacts"] == []
    leave_logs_out(trial, "none")
    assert not (trial / "raw").exists()
    assert (judged_document(trial) or {})["logs_left_out"] == "failures"


def test_what_was_never_judged_is_left_alone(tmp_path: Path) -> None:
    """Nor is a folder made that is not there."""
    leave_logs_out(tmp_path / "nowhere", "none")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "raw").mkdir()
    leave_logs_out(tmp_path, "none")
    assert (tmp_path / "raw").is_dir()
