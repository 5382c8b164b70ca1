# SPDX-License-Identifier: Apache-2.0
"""Rounds of a search, with trials whose results are written here in place of running them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from specs import SMALL, study_of
from synthetic_study import Shape, write_study

from quiclab.model.history_record import most_pairs
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.store.growth import read_growth
from quiclab.store.layout import StudyDir
from quiclab.study.history.bisection import Standing, bisect, compare_neighbours
from quiclab.study.history.rounds import EndedEarlyError, ReleaseRounds
from quiclab.study.sequential_run import planned_trials

RELEASES = ("0.40", "0.42", "0.44", "0.46", "0.48")
CELL = "1 MB/clean"
_HEAD = SMALL.partition("[[arm]]")[0].replace('"100KB"', '"1_MB"').replace('"plain"', '"clean"')


@dataclass
class Fake:
    """Runs no trial: writes the tables of all trials that are planned, from the synthetic model."""

    folder: Path
    study: Study
    factors: Mapping[str, float]
    failing: frozenset[str] = frozenset()
    rounds: list[tuple[int, bool]] = field(default_factory=list)

    def __call__(self, blocks: Mapping[str, int], first: bool) -> int:
        self.rounds.append((blocks[CELL], first))
        grown = read_growth(self.folder)
        assert grown is not None
        number = blocks[CELL]
        lost = frozenset(
            ("clean/1 MB", arm, block)
            for block in range(number)
            for arm in RELEASES
            if arm not in grown.arms[CELL][block]
        )
        shape = Shape(
            workloads=("1 MB",), paths=("clean",), blocks=number, aa_blocks=0, voids=frozenset(), lost=lost,
            failures=frozenset(("clean/1 MB", arm, block) for arm in self.failing for block in range(number)) - lost,
            baselines=dict.fromkeys(RELEASES, RELEASES[0]), factors=dict(self.factors),
        )  # fmt: skip
        write_study(self.folder, shape)
        return 0


def _rounds(
    folder: Path, ready: Mapping[str, str] | None = None, **truth: object
) -> tuple[ReleaseRounds, Fake, list[str]]:
    arms = "".join(
        f'\n[[arm]]\nname = "{each}"\nprotocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n' for each in RELEASES
    )
    study = study_of(folder, _HEAD + arms)
    fake, told = Fake(folder, study, **truth), []  # type: ignore[arg-type,var-annotated]
    rounds = ReleaseRounds(
        study, StudyDir(folder), CELL, most_pairs(len(RELEASES)), fake, (ready or {}).get, math.inf, told.append
    )
    return rounds, fake, told


STEP_AT_44 = {"0.44": 0.8, "0.46": 0.8, "0.48": 0.8}


def test_a_search_measures_the_ends_and_then_halves(tmp_path: Path) -> None:
    """The step is located with the fewest pairs that decide; a release that no pair asks for has the survey alone."""
    rounds, fake, told = _rounds(tmp_path, factors=STEP_AT_44)
    assert rounds.survey(RELEASES) == {}
    found = bisect(RELEASES, rounds)
    assert found.steps == (("0.42", "0.44"),)
    grown = read_growth(tmp_path)
    assert grown is not None
    arms = grown.arms[CELL]
    assert arms[:2] == (RELEASES, RELEASES)
    assert set(arms[2:4]) == {("0.40", "0.48")}
    assert sum("0.46" in block for block in arms) == 2
    assert len(grown.looks) > 3
    assert any(line.startswith("0.42 → 0.44: different (−") for line in told)
    assert [first for _, first in fake.rounds] == [True, *[False] * (len(fake.rounds) - 1)]
    assert all(blocks % 2 == 0 for blocks, _ in fake.rounds), "mirrored pairs of blocks"


def test_what_was_measured_is_planned_as_it_ran(tmp_path: Path) -> None:
    """A command that goes on with the study, such as `quiclab run`, plans the same trials."""
    rounds, fake, _ = _rounds(tmp_path, factors=STEP_AT_44)
    bisect(RELEASES, rounds)
    grown = read_growth(tmp_path)
    assert grown is not None
    rows = planned_trials(fake.study, StudyDir(tmp_path))
    assert rows == grow_plan(fake.study, grown.blocks, grown.arms)


def test_neighbours_are_compared_with_what_was_measured_before(tmp_path: Path) -> None:
    """Comparing all of them finds no other step, and every release has its pairs."""
    rounds, _, _ = _rounds(tmp_path, factors=STEP_AT_44)
    found = compare_neighbours(bisect(RELEASES, rounds), rounds)
    assert found.steps == (("0.42", "0.44"),)
    assert all(found.asked[pair] is not Standing.OPEN for pair in found.asked)


def test_a_release_that_fails_and_one_that_is_not_built_are_left_out(tmp_path: Path) -> None:
    """The first is known from the survey, the second before a trial of it is planned."""
    broken = {"0.42": "it does not build: no word"}
    rounds, _, told = _rounds(tmp_path, broken, factors=STEP_AT_44, failing=frozenset({"0.46"}))
    unusable = rounds.survey(RELEASES)
    assert unusable.keys() == {"0.42", "0.46"}
    assert "0.42 is left out: it does not build: no word" in told
    found = bisect(RELEASES, rounds, unusable)
    assert found.steps == (("0.40", "0.44"),)
    assert found.between(("0.40", "0.44")) == ("0.42",)


def test_no_round_begins_when_the_time_is_over(tmp_path: Path) -> None:
    """The pair stays open, and nothing is claimed of it."""
    rounds, fake, _ = _rounds(tmp_path, factors=STEP_AT_44)
    rounds.until_s = time.monotonic()
    found = bisect(RELEASES, rounds)
    assert (found.steps, found.spans) == ((), ())
    assert fake.rounds == []


def test_an_interrupted_round_ends_the_search(tmp_path: Path) -> None:
    """The command ends with the exit code of that round."""
    rounds, _, _ = _rounds(tmp_path, factors=STEP_AT_44)
    rounds.trials = lambda *_: 130
    with pytest.raises(EndedEarlyError) as ended:
        bisect(RELEASES, rounds)
    assert ended.value.code == 130
    assert json.loads((tmp_path / "sequential.json").read_text())["arms"][CELL], "what it planned is kept"
