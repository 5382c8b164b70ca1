# SPDX-License-Identifier: Apache-2.0
"""The error rates of decision 3 on a machine that disturbs its trials stay within their bounds."""

from __future__ import annotations

import disturbed_rates
import error_rates
import pytest
from disturbed_rates import MACHINES, SHAPES, Machine, Rates
from error_rates import ALPHA, Shape

pytestmark = pytest.mark.nightly

RUNS = 400
MATTERS_PCT = 5.0


def named(each: Machine | Shape) -> str:
    """The machine's or the shape's name as that of a test."""
    return each.name


@pytest.mark.parametrize("machine", MACHINES, ids=named)
@pytest.mark.parametrize("shape", SHAPES, ids=named)
def test_no_more_cells_are_called_different_than_may_be(shape: Shape, machine: Machine) -> None:
    """False alarms stay below the level and intervals hold the truth, with few pairs and with many."""
    for pairs in error_rates.PAIRS[:2]:
        found = disturbed_rates.rates(machine, shape, pairs, RUNS)
        assert found.different <= ALPHA + error_rates.allowance(ALPHA, RUNS), (pairs, found)
        assert found.held >= 1 - ALPHA - error_rates.allowance(ALPHA, RUNS), (pairs, found)


@pytest.mark.parametrize("machine", MACHINES, ids=named)
def test_intervals_hold_a_difference_too(machine: Machine) -> None:
    """One of a fifth, which nearly all studies find."""
    found: Rates = disturbed_rates.rates(machine, SHAPES[0], 20, RUNS, factor=0.8)
    assert found.held >= 1 - ALPHA - error_rates.allowance(ALPHA, RUNS), found
    assert found.different >= 0.9, found


@pytest.mark.parametrize("machine", MACHINES, ids=named)
def test_arms_that_differ_by_what_matters_are_not_called_alike(machine: Machine) -> None:
    """At most one study of forty, as without disturbances."""
    found = disturbed_rates.alike_wrongly(machine, SHAPES[0], 40, MATTERS_PCT, RUNS)
    assert found <= ALPHA / 2 + error_rates.allowance(ALPHA / 2, RUNS), found


@pytest.mark.parametrize("machine", MACHINES, ids=named)
def test_the_sequence_holds_over_all_looks(machine: Machine) -> None:
    """At most 5 % of studies without a difference are ever called different."""
    found = disturbed_rates.ever_different(machine, SHAPES[0], error_rates.LOOKS, RUNS // 4)
    assert found <= ALPHA, found
