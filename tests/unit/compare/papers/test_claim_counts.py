# SPDX-License-Identifier: Apache-2.0
"""Counts of cells: how many are so, what the open ones could change, and the share that the paper's count is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from synthetic_paper import CLEAR, direction, judged
from synthetic_study import write_study

from quiclab.compare.papers.claim_counts import count_of, states_text
from quiclab.compare.papers.claim_finding import CountedCell, Finding, Judged
from quiclab.compare.papers.claim_verdict import Verdict
from quiclab.compare.papers.paper import Expected

FOUR = {"workloads": ["100 KB", "1 MB"], "paths": ["clean", "loss"]}


def share(text: str, low: float, high: float, cells: int = 0, **keys: Any) -> dict[str, Any]:
    """Finding of a paper, as paper.json has it."""
    return {"text": text, "value": (low + high) / 2, "low": low, "high": high, "unit": "share", "cells": cells} | keys


def count(counted: dict[str, Any], expected: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """A claim that a share of cells is so."""
    return direction("lower", kind="count") | FOUR | {"counted": counted, "expected": expected} | keys


LOWER = {"text": "lower", "direction": "lower"}
HALF = share("15 of 30", 0.5, 0.5, 30)


def held(tmp_path: Path, *claims: dict[str, Any], shape: Any = CLEAR) -> list[Judged]:
    """Claims against a study in which h3 is faster in two of four cells, and as fast in the others."""
    return list(judged(write_study(tmp_path, shape), *claims))


@pytest.mark.parametrize(
    ("counted", "expected", "verdict", "number"),
    [
        ("lower", HALF, Verdict.AGREES, 2),
        ("lower", share("22 of 30", 22 / 30, 22 / 30, 30), Verdict.DIFFERS, 2),
        ("lower", share("most", 0.5, 1, range=True, above=True), Verdict.DIFFERS, 2),
        ("lower", share("at least 15 of 30", 0.5, 1, 30, range=True), Verdict.AGREES, 2),
        ("lower", share("22 of 30", 18 / 30, 26 / 30, 30, margin="4 of 30"), Verdict.DIFFERS, 2),
        ("lower", share("22 of 30", 14 / 30, 1, 30, margin="8 of 30"), Verdict.AGREES, 2),
        ("same", HALF, Verdict.AGREES, 2),
        ("higher", share("none", 0, 0, range=True), Verdict.AGREES, 0),
        ("not higher", share("all", 1, 1, range=True), Verdict.AGREES, 4),
        ("not lower", HALF, Verdict.AGREES, 2),
    ],
)
def test_a_count_is_held_as_a_share(
    tmp_path: Path, counted: str, expected: dict[str, Any], verdict: Verdict, number: int
) -> None:
    """Our four cells stand for the paper's thirty: two of four are fifteen of thirty."""
    (found,) = held(tmp_path, count({"text": counted, "direction": counted}, expected))
    (cell,) = found.cells
    assert (found.verdict, cell.ours, cell.n, cell.unit) == (verdict, number, 4, "cells")
    assert cell.why.startswith("2 cells equivalent, 2 lower.")
    assert ("The paper has 30 cells: the share is held." in cell.why) == (expected["cells"] == 30)
    assert [each.state for each in found.counted] == ["equivalent", "lower", "equivalent", "lower"]
    assert all(each.finding.ours is not None and each.finding.n == 20 for each in found.counted)


def test_open_cells_leave_it_open_only_where_they_could_change_it(tmp_path: Path) -> None:
    """Five pairs decide nothing: no cell is decided: none may be lower, or all four."""
    few = replace(CLEAR, blocks=5)
    (found,) = held(tmp_path, count(LOWER, HALF), shape=few)
    (cell,) = found.cells
    assert cell.interval is not None
    assert (found.verdict, cell.ours) == (Verdict.INCONCLUSIVE, 0)
    assert (cell.interval.low, cell.interval.high) == (0, 4)
    assert cell.why.startswith("4 cells inconclusive.")


def cells(agrees: int, differs: int, open_: int = 0, spoiled: int = 0) -> list[CountedCell]:
    """Cells that count, do not, are open, and were not judged."""
    verdicts = {
        Verdict.AGREES: agrees, Verdict.DIFFERS: differs, Verdict.INCONCLUSIVE: open_, Verdict.NOT_JUDGED: spoiled,
    }  # fmt: skip
    return [
        CountedCell(Finding("w", "p", verdict, ""), verdict.value) for verdict, n in verdicts.items() for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (cells(22, 8), Verdict.AGREES),
        (cells(21, 9), Verdict.DIFFERS),
        (cells(21, 7, 2), Verdict.INCONCLUSIVE),
        (cells(15, 13, 2), Verdict.DIFFERS),
        (cells(21, 7, 0, 2), Verdict.NOT_JUDGED),
        (cells(21, 7, 1, 1), Verdict.INCONCLUSIVE),
        (cells(4, 2), Verdict.AGREES),
        (cells(5, 1), Verdict.DIFFERS),
        (cells(220, 80), Verdict.AGREES),
        (cells(224, 76), Verdict.AGREES),
        (cells(226, 74), Verdict.DIFFERS),
    ],
)
def test_without_a_margin_a_count_is_the_nearest_that_so_many_cells_can_have(
    found: list[CountedCell], verdict: Verdict
) -> None:
    """22 of 30 are 22 of 30, 4 of 6, and 215 to 225 of 300, which would be printed so."""
    told = count_of(Expected("22 of 30", "", 22 / 30, 22 / 30, "share", cells=30), found, 0.95)
    assert told.verdict is verdict


def test_of_so_few_cells_every_number_would_be_the_papers() -> None:
    """0 of 1 and 1 of 1 say nothing of a half; where everything would agree, nothing does."""
    half = Expected("15 of 30", "", 0.5, 0.5, "share", cells=30)
    told = count_of(half, cells(1, 0), 0.95)
    assert (told.verdict, told.why) == (
        Verdict.NOT_TESTABLE, "1 cell agrees: of so few cells every number would be the paper's.",
    )  # fmt: skip


def test_most_are_more_than_half() -> None:
    """Three of six are not most, four are."""
    most = Expected("most", "", 0.5, 1.0, "share", is_range=True, is_above=True)
    assert count_of(most, cells(3, 3), 0.95).verdict is Verdict.DIFFERS
    assert count_of(most, cells(4, 2), 0.95).verdict is Verdict.AGREES
    assert states_text(cells(1, 3, 2)) == "3 cells differs, 2 inconclusive, 1 agrees"


@pytest.mark.parametrize(
    ("bound", "verdict", "states"),
    [
        ({"low": 1, "unit": "ms"}, Verdict.AGREES, {"over it"}),
        ({"high": 1, "unit": "ms"}, Verdict.DIFFERS, {"not over it"}),
        ({"low": 1, "high": 1e6, "unit": "ms"}, Verdict.AGREES, {"over it"}),
        ({"low": 1, "unit": "bit/s"}, Verdict.NOT_TESTABLE, {"not testable here"}),
    ],
)
@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_cells_are_counted_by_a_bound(
    tmp_path: Path, bound: dict[str, Any], verdict: Verdict, states: set[str], statistic: str
) -> None:
    """The whole interval of one arm's number is on one side, or the cell is open."""
    claim = count({"text": "over it"} | bound, share("all", 1, 1, range=True), arms=["h2"], statistic=statistic)
    (found,) = held(tmp_path, claim)
    assert (found.verdict, {each.state for each in found.counted}) == (verdict, states)


def test_a_bound_within_the_interval_leaves_the_cell_open(tmp_path: Path) -> None:
    """A count of cells beside a bound is open where our own median is the bound."""
    every = share("all", 1, 1, range=True)
    claim = count({"text": "above", "low": 1, "unit": "ms"}, every, arms=["h2"], workloads=["1 MB"], paths=["loss"])
    (found,) = held(tmp_path, claim)
    ours = found.counted[0].finding.ours
    (found,) = held(tmp_path, claim | {"counted": {"text": "above", "low": ours, "unit": "ms"}})
    assert found.counted[0].state == "inconclusive"
    assert found.verdict is Verdict.INCONCLUSIVE


def test_the_last_of_several_arms_is_the_lowest(tmp_path: Path) -> None:
    """An arm is alike beside itself, so that it is the lowest of none; beside another over "loss" it is."""
    lowest = {"text": "lowest", "direction": "lowest"}
    (two,) = held(tmp_path, count(lowest, HALF, arms=["h2", "h2", "h3"]))
    assert [each.state for each in two.counted] == ["not lowest", "lowest", "not lowest", "lowest"]
    assert two.verdict is Verdict.AGREES
    assert two.claim.first_and_second == ("h2, h2", "h3")


def test_cells_that_are_not_here_are_left_out_and_told(tmp_path: Path) -> None:
    """The study has two of three paths; a count over none of them cannot be tested."""
    (found, none) = held(
        tmp_path, count(LOWER, HALF, paths=["clean", "loss", "moon"]), count(LOWER, HALF, paths=["moon"])
    )
    assert (found.verdict, found.cells[0].n) == (Verdict.AGREES, 4)
    assert found.cells[0].why.endswith("2 of the claim's 6 cells cannot be tested here.")
    assert (none.verdict, none.cells[0].why) == (Verdict.NOT_TESTABLE, "This study has no path moon.")


def test_a_failed_trial_leaves_a_mean_beside_a_bound_open(tmp_path: Path) -> None:
    """A mean has no meaning then; a median ranks the trial worst."""
    failed = replace(CLEAR, failures=frozenset({("loss/1 MB", "h2", 3)}))
    bound = {"text": "above 1 ms", "low": 1, "unit": "ms"}
    keys = {"arms": ["h2"], "workloads": ["1 MB"], "paths": ["loss"]}
    every = share("all", 1, 1, range=True)
    mean, median = held(
        tmp_path, count(bound, every, statistic="mean", **keys), count(bound, every, **keys), shape=failed
    )
    assert (mean.verdict, median.verdict) == (Verdict.INCONCLUSIVE, Verdict.AGREES)
    assert "a mean has no meaning then" in mean.counted[0].finding.why


def test_a_difference_that_perhaps_matters_may_count_where_being_equivalent_would(tmp_path: Path) -> None:
    """About 22 % lower, where 22.5 % matter: lower or equivalent, so not higher, and perhaps lower."""
    study = write_study(tmp_path, replace(CLEAR, resolved={"matters_pct": 22.5}))
    keys = {"workloads": ["100 KB"], "paths": ["loss"]}
    every = share("all", 1, 1, range=True)
    words = ("lower", "higher", "not higher", "not lower")
    found = judged(study, *(count({"text": word, "direction": word}, every, **keys) for word in words))
    assert [each.verdict for each in found] == [
        Verdict.INCONCLUSIVE, Verdict.DIFFERS, Verdict.AGREES, Verdict.INCONCLUSIVE,
    ]  # fmt: skip
    assert {each.counted[0].state for each in found} == {"lower or equivalent"}
