# SPDX-License-Identifier: Apache-2.0
"""Sentences of a history: the releases that changed the time, and what stays open."""

from __future__ import annotations

import json
from pathlib import Path

from synthetic_study import Shape, write_study

from quiclab.cli.history_text import result_lines
from quiclab.compare.analyse import analyse
from quiclab.compare.study import read_study
from quiclab.model.history_record import HistoryRecord, HistoryRelease, most_pairs
from quiclab.study.history.bisection import Bisection, Standing
from quiclab.study.history.changes import HistoryFindings, findings

RELEASES = ("0.40", "0.42", "0.44", "0.46")
DATES = ("2023-12-13", "2024-03-18", "2024-05-19", None)


def _found(folder: Path, search: Bisection, blocks: int = 30, **shape: object) -> HistoryFindings:
    """Findings of a study in which the last two releases take four fifths of the time."""
    asked = {
        "workloads": ("1 MB",),
        "paths": ("clean",),
        "voids": frozenset(),
        "blocks": blocks,
        "aa_blocks": 0,
        "baselines": dict.fromkeys(RELEASES, RELEASES[0]),
        "factors": {"0.44": 0.8, "0.46": 0.8},
    }
    write_study(folder, Shape(**(asked | shape)))  # type: ignore[arg-type]
    rule = {"version": 1, "effect_pct": 2, "at_most": 60, "blocks": {}, "looks": [{}]}
    (folder / "sequential.json").write_text(json.dumps(rule))
    record = HistoryRecord("quic-go", "server", tuple(map(HistoryRelease, RELEASES, DATES)))
    study = read_study(folder)
    return findings(study, folder, analyse(study), record, search, most_pairs(len(RELEASES)))


def _search(
    standings: dict[tuple[str, str], Standing],
    steps: tuple[tuple[str, str], ...] = (),
    spans: tuple[tuple[str, str], ...] = (),
    unusable: dict[str, str] | None = None,
) -> Bisection:
    return Bisection(RELEASES, steps, spans, standings, unusable or {})


STEP = ("0.42", "0.44")
FOUND = _search(
    {("0.40", "0.46"): Standing.DIFFERENT, STEP: Standing.DIFFERENT, ("0.40", "0.42"): Standing.SAME}, (STEP,)
)


def test_a_step_is_told_first_with_its_size_its_pairs_and_its_reason(tmp_path: Path) -> None:
    """The sentence begins with the release that did it."""
    found = _found(tmp_path, FOUND)
    lines = [line for line in result_lines(found) if line]
    assert lines[0].startswith("0.44 changed the time: −")
    assert "30 pairs) against 0.42. Medians: " in lines[0]
    assert lines[1] == "  No cause is known: no pair has a breakdown of its time."
    told = "\n".join(lines)
    assert "0.40  2023-12-13  median " in told
    assert "0.46  –" in told
    assert "The same to within 2 %: 0.40 → 0.42 " in told
    assert "Intervals hold at 95 % for all 5 pairs of releases that may be compared" in told
    assert "9 pairs of trials are the fewest that show a difference" in told
    assert [(each.pair.newer, each.located) for each in found.steps] == [("0.44", True)]


def test_a_release_that_could_not_be_measured_is_told_beside_a_step(tmp_path: Path) -> None:
    """The step may be its doing."""
    step = ("0.40", "0.44")
    search = _search({step: Standing.DIFFERENT}, (step,), unusable={"0.42": "it does not build: no word"})
    lines = result_lines(_found(tmp_path, search))
    assert lines[1].startswith("0.44, or 0.42, which could not be measured, changed the time: −")
    assert "Left out: 0.42: it does not build: no word" in lines


def test_a_change_that_no_release_is_shown_to_have_made_names_none(tmp_path: Path) -> None:
    """The difference is told from end to end."""
    ends = ("0.40", "0.46")
    search = _search({ends: Standing.DIFFERENT, ("0.40", "0.44"): Standing.OPEN}, spans=(ends,))
    found = _found(tmp_path, search)
    line = result_lines(found)[1]
    assert line.startswith("From 0.40 to 0.46 the time changed: −")
    assert line.endswith("No single release between them is shown to have done it.")
    assert found.steps == ()


def test_releases_that_are_the_same_are_said_to_be(tmp_path: Path) -> None:
    """A search whose ends are alike is an answer."""
    ends = ("0.40", "0.46")
    line = result_lines(_found(tmp_path, _search({ends: Standing.SAME}), factors={}))[1]
    assert line.startswith("No release changed the time by 2 % or more: 0.40 and 0.46 are the same to within 2 %")


def test_too_few_pairs_are_inconclusive(tmp_path: Path) -> None:
    """No change is claimed, and no sameness."""
    ends = ("0.40", "0.46")
    found = _found(tmp_path, _search({ends: Standing.OPEN}), blocks=4)
    lines = result_lines(found)
    assert lines[1].startswith("Inconclusive: these pairs do not tell whether 0.40 and 0.46 differ by 2 %. So far: −")
    assert any(line.startswith("Not decided: 0.40 → 0.46 ") for line in lines)


def test_a_search_that_compared_nothing_says_so(tmp_path: Path) -> None:
    """One release that runs has no history."""
    search = _search({}, unusable=dict.fromkeys(RELEASES[1:], "every trial failed"))
    assert result_lines(_found(tmp_path, search))[1].startswith("Nothing was compared")
