# SPDX-License-Identifier: Apache-2.0
"""A spec is kept with its study, and a study does not change."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from specs import SMALL, changed, written

from quiclab.model.errors import BusyError, SpecError
from quiclab.store.layout import StudyDir
from quiclab.store.look_records import InterimLook, keep_look
from quiclab.study.specs import as_begun, held, load_study, spec_file_of


def test_a_directory_means_the_spec_in_it(tmp_path: Path) -> None:
    """A file means itself."""
    assert spec_file_of(tmp_path) == tmp_path / "spec.toml"
    assert spec_file_of(tmp_path / "small.toml") == tmp_path / "small.toml"


def test_a_metric_is_looked_up_away_from_this_process(tmp_path: Path) -> None:
    """The process that enters the sandbox is without threads, which those of polars would be."""
    spec = written(tmp_path, SMALL.replace("[study]\n", '[study]\nmetric = "ttfb"\n', 1))
    code = (
        "import os, pathlib, sys\nfrom quiclab.study.specs import load_study\n"
        "threads = lambda: len(os.listdir('/proc/self/task'))\n"
        "print(load_study(pathlib.Path(sys.argv[1])).metric, threads(), 'polars' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code, spec], capture_output=True, text=True, check=True)
    assert run.stdout == "ttfb_ms 1 False\n"


@pytest.mark.parametrize(("metric", "kind"), [("plt_ms", "page"), ("startup", "video")])
def test_a_metric_that_no_workload_has_is_an_error(tmp_path: Path, metric: str, kind: str) -> None:
    """Objects have no load event, and nobody watches them."""
    spec = written(tmp_path, SMALL.replace("[study]\n", f'[study]\nmetric = "{metric}"\n', 1))
    with pytest.raises(SpecError, match=f"is of a {kind}, and no workload is one"):
        load_study(spec)


@pytest.mark.parametrize(("counted", "is_right"), [("true", False), ('"every block"', True), ("5", True)])
def test_system_calls_are_compared_where_they_are_counted_in_blocks(
    tmp_path: Path, counted: str, is_right: bool
) -> None:
    """One count of each arm makes no pair."""
    keys = f'metric = "client_system_calls"\ncount_system_calls = {counted}\n'
    spec = written(tmp_path, SMALL.replace("[study]\n", f"[study]\n{keys}", 1))
    if is_right:
        assert load_study(spec).metric == "client_system_calls"
        return
    with pytest.raises(SpecError, match="client_system_calls is counted in no block") as raised:
        load_study(spec)
    assert "every block" in raised.value.hint


def _begun(tmp_path: Path, text: str, blocks: int) -> StudyDir:
    """A study whose first trials ran when the control had so many blocks."""
    study_dir = StudyDir(tmp_path / "study")
    study_dir.create()
    written(study_dir.root, text)
    (study_dir.root / "trials" / "7e57").mkdir()
    study_dir.resolved.write_text(json.dumps({"aa": {"workload": "100KB", "path": "plain", "blocks": blocks}}))
    return study_dir


@pytest.mark.parametrize(
    ("aa", "before", "after"), [("", 4, 4), ("", 0, 0), ("aa = {blocks = 1}", 4, 1), ('aa = {path = "plain"}', 4, 4)]
)
def test_a_study_keeps_the_control_with_which_it_began(tmp_path: Path, aa: str, before: int, after: int) -> None:
    """A number in the spec counts; the default of earlier versions was greater."""
    text = SMALL.replace("blocks = 4\n", f"blocks = 4\n{aa}\n")
    study_dir = _begun(tmp_path, text, before)
    assert load_study(study_dir.spec).aa.blocks == after
    elsewhere = written(tmp_path, text)
    assert as_begun(load_study(elsewhere), elsewhere, study_dir).aa.blocks == after


def test_a_study_that_has_not_begun_keeps_nothing(tmp_path: Path) -> None:
    study_dir = _begun(tmp_path, SMALL, 4)
    (study_dir.root / "trials" / "7e57").rmdir()
    assert load_study(study_dir.spec).aa.blocks == 0


def test_a_study_that_is_held_has_its_spec(tmp_path: Path) -> None:
    """Nobody else works in it meanwhile, and what a killed run was bringing in is gone."""
    spec, study_dir = written(tmp_path, SMALL), StudyDir(tmp_path / "study")
    study = load_study(spec)
    (study_dir.root / "trials" / ".incoming-7e57").mkdir(parents=True)
    with held(study_dir, spec, study):
        assert study_dir.spec.read_bytes() == spec.read_bytes()
        assert json.loads(study_dir.resolved.read_text())["arms_summary"]["text"]
        assert not list(study_dir.root.glob("trials/.*"))
        with pytest.raises(BusyError), held(study_dir, spec, study):
            pass


def test_more_blocks_after_a_look_are_told_before_they_run(tmp_path: Path) -> None:
    """They cost hours, and the usual test."""
    folder, more = tmp_path / "study", tmp_path / "more"
    more.mkdir()
    spec, larger = written(tmp_path, SMALL), written(more, SMALL.replace("blocks = 4", "blocks = 9"))
    study_dir = StudyDir(folder)
    with held(study_dir, spec, load_study(spec)) as told:
        assert told == ()
    keep_look(folder, InterimLook("2026-03-01", 4, {"100KB/plain": 4}, 0.05, ("ttlb_ms",)))
    for file, words in ((spec, ()), (larger, ("4 blocks were planned when a result of this study was first seen",))):
        with held(study_dir, file, load_study(file)) as told:
            assert len(told) == len(words)
            assert all(sentence.startswith(words) for sentence in told)


@pytest.mark.parametrize("begin", [lambda at: at.ledger.touch(), lambda at: (at.root / "failed/1-attempt1").mkdir()])
def test_a_study_may_grow_but_not_change(begin: Callable[[StudyDir], None], tmp_path: Path) -> None:
    """Another server in an arm is another study."""
    study_dir = StudyDir(tmp_path / "study")
    spec = written(tmp_path, SMALL)
    with held(study_dir, spec, load_study(spec)):
        begin(study_dir)
    other = written(tmp_path, changed(('server = "caddy"', 'server = "aioquic"')))
    with pytest.raises(SpecError, match="the spec differs from the one"), held(study_dir, other, load_study(other)):
        pass


def test_a_spec_whose_run_was_refused_may_change(tmp_path: Path) -> None:
    """No trial was planned, so that the mended spec is the first."""
    study_dir = StudyDir(tmp_path / "study")
    spec = written(tmp_path, SMALL)
    with held(study_dir, spec, load_study(spec)):
        pass
    other = written(tmp_path, changed(('server = "caddy"', 'server = "aioquic"')))
    with held(study_dir, other, load_study(other)):
        assert study_dir.spec.read_bytes() == other.read_bytes()
