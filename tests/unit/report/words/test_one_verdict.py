# SPDX-License-Identifier: Apache-2.0
"""Headline, list, map, JSON and tables of random cells: one verdict and one sign in all of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from by_night import by_night
from random_cells import Cell, random_cell

from quiclab.cli.explain_documents import cause_entry
from quiclab.model import number_text
from quiclab.report.figures.causes import row_of
from quiclab.report.words.explanation_text import headline, sentence
from quiclab.why.accounts import Step, waterfall_of
from quiclab.why.causes import Status, verdicts_of
from quiclab.why.explanation import Explanation

ALPHA = 0.05
_CLAUSE = re.compile(r"([+−])([\d.,]+ \S+?)\)")


def _explained(cell: Cell) -> Explanation:
    causes = verdicts_of(cell.known, cell.pairs, ALPHA)
    return Explanation(waterfall_of(cell.comparison, cell.shares, ALPHA), causes, ALPHA)


def _excludes_zero(step: Step) -> bool:
    return step.interval_ms is not None and not step.interval_ms.low <= 0 <= step.interval_ms.high


def _check_steps(explained: Explanation) -> None:
    waterfall, causes = explained.waterfall, explained.causes
    for step in (waterfall.total, *waterfall.steps, *waterfall.floor, *(each.step for each in causes)):
        assert step.differs(ALPHA) == _excludes_zero(step)
        if _excludes_zero(step) and step.interval_ms is not None:
            assert step.interval_ms.low * step.difference_ms > 0
    for each in causes:
        if each.status not in (Status.RECORDED, Status.IN_BOTH):
            assert each.status.found == each.step.differs(ALPHA)


def _check_headline(explained: Explanation) -> None:
    waterfall, told = explained.waterfall, headline(explained)
    whole = told.partition(": " if told.partition(": ")[0].count("(") else ";")[0]
    if "not significant" in whole or "too few" in whole:
        assert not _excludes_zero(waterfall.total)
    elif "average" in whole:
        assert _excludes_zero(waterfall.total)
        assert ("longer" in whole) == (waterfall.total.difference_ms > 0)
    parts = [each for each in explained.causes if each.status is not Status.IN_BOTH]
    shown, _, unclear = told.partition(" Unclear with ")
    if "Largest on average" in told:
        shown, _, unclear = told.partition("Largest on average")
    for each in parts:
        clause = f"{each.title} ("
        place = unclear if each.status is Status.UNDECIDED else shown
        if each.status is Status.UNDECIDED and "Largest on average" in told and clause not in place:
            continue  # the largest three
        assert clause in place, (each.title, told)
        found = _CLAUSE.match(place[place.index(clause) + len(clause) :])
        assert found is not None
        sign, number = found.groups()
        assert (sign == "+") == (each.step.difference_ms > 0)
        listed = sentence(each, explained)
        assert f"{number} {'longer' if sign == '+' else 'less'}" in listed
        assert ("too few to be sure" in listed) == (each.status is Status.UNDECIDED)


def _check_elsewhere(explained: Explanation) -> None:
    for each in explained.causes:
        row, entry = row_of(each, explained), cause_entry(each)
        assert row["status"] == entry.status == str(each.status)
        assert row["cause_title"].startswith(each.title)
        assert row["difference_ms"] == entry.difference_ms == each.step.difference_ms
        if each.status is not Status.IN_BOTH:
            sign = "+" if each.step.difference_ms > 0 else "−"
            assert row["cell_text"] == f"{sign}{number_text.quantity(abs(each.step.difference_ms), 'ms')}"
    if explained.causes:
        parts = sum(each.step.difference_ms for each in explained.causes) + (explained.rest_ms or 0.0)
        assert parts == pytest.approx(explained.waterfall.total.difference_ms)


@pytest.mark.parametrize("seed", [0, *by_night(*range(1, 8))])
def test_no_place_contradicts_another(seed: int) -> None:
    """250 random cells for each seed, with few pairs and many, heavy tails, rare waits, ties and losses, contradict
    nowhere."""
    rng = np.random.default_rng(seed)
    kinds: set[Status] = set()
    for _ in range(250):
        explained = _explained(random_cell(rng))
        _check_steps(explained)
        _check_headline(explained)
        _check_elsewhere(explained)
        kinds |= {each.status for each in explained.causes}
    assert {Status.INDICATED, Status.RECORDED, Status.SEVERAL, Status.UNDECIDED, Status.UNKNOWN} <= kinds


@pytest.mark.parametrize(("cells", "most"), [(300, 23), *by_night((600, 42))])  # the binomial's 98th of 100
def test_arms_that_are_alike_have_causes_no_more_often_than_the_level_says(cells: int, most: int) -> None:
    """At most one in twenty of the cells without a difference names a cause."""
    rng = np.random.default_rng(99)
    found = 0
    for _ in range(cells):
        causes = _explained(random_cell(rng, alike=True)).causes
        assert Status.RECORDED not in {each.status for each in causes}
        found += any(each.status.found for each in causes)
    assert found <= most
