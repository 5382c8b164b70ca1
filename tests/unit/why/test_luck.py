# SPDX-License-Identifier: Apache-2.0
"""Luck: found differences that chance made by losing more packets of one arm, and others that it did not make."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.why.account import Why
from quiclab.why.cause_parts import Known
from quiclab.why.causes import Status, verdicts_of
from quiclab.why.luck import Losses, is_luck
from quiclab.why.mechanisms import LOST_ON_THE_PATH, TRIAL

ALPHA = 0.05
_LOSS, _BUSY = (Why.WINDOW_AFTER_LOSS, "loss_on_the_path"), (Why.LINK_BUSY, "bytes_on_the_wire")
Drawn = tuple[Known, list[tuple[str, str]]]


def _study(
    rng: np.random.Generator, rates: tuple[float, float], costs_ms: tuple[float, float], sent: int, pairs: int
) -> Drawn:
    """Each packet is lost by itself, and each loss costs about as much. A trial without a loss has no fact of it."""
    ms, facts = {}, {}
    for block in range(pairs):
        for arm, rate, cost in zip("ab", rates, costs_ms, strict=True):
            trial, lost = f"{arm}{block}", int(rng.binomial(sent, rate))
            ms[trial] = {_BUSY: 300.0 + rng.normal(0, 0.3)}
            facts[trial] = {TRIAL: {(LOST_ON_THE_PATH, "packets"): float(lost)}}
            if lost:
                ms[trial][_LOSS] = float(sum(rng.gamma(8, cost / 8) for _ in range(lost)))
                facts[trial]["loss_on_the_path"] = {
                    ("lost_packets", ""): float(lost),
                    ("sent_packets", ""): float(sent),
                }
    return Known(ms, {trial: {} for trial in ms}, facts, {}), [(f"a{n}", f"b{n}") for n in range(pairs)]


def _found(
    studies: int, seed: int, rates: tuple[float, float], costs_ms: tuple[float, float], sent: int = 200
) -> list[Status]:
    """Statuses of the losses' time in the studies that show a difference of it."""
    rng, shown = np.random.default_rng(seed), []
    for _ in range(studies):
        judged = verdicts_of(*_study(rng, rates, costs_ms, sent, 8), ALPHA)
        shown += [each.status for each in judged if each.name == "loss_on_the_path" and each.status.found]
    return shown


def test_of_arms_that_are_alike_what_is_found_is_luck() -> None:
    """0.5 % of 200 packets: a third of the trials lose none. What a study finds by chance is told as luck."""
    shown = _found(1200, 1, (0.005, 0.005), (40.0, 40.0))
    assert 8 <= len(shown) <= 80
    assert shown.count(Status.LUCK) >= 0.8 * len(shown)


def test_losses_that_cost_one_arm_more_are_no_luck() -> None:
    """Equally many losses, each at four times the cost, are no luck."""
    shown = _found(150, 2, (0.01, 0.01), (20.0, 80.0))
    assert len(shown) >= 60
    assert shown.count(Status.LUCK) <= 0.1 * len(shown)


def test_a_path_that_loses_more_of_one_arm_is_no_luck() -> None:
    """A path that drops large packets alone loses the arms' packets at two rates."""
    shown = _found(60, 3, (0.0, 0.04), (40.0, 40.0), sent=700)
    assert len(shown) == 60
    assert Status.LUCK not in shown


@pytest.mark.parametrize(("bursts", "expected"), [(True, True), (False, False)])
def test_bursts_may_be_chance_where_single_losses_are_not(bursts: bool, expected: bool) -> None:
    """Sixty losses against ten: of two bursts in eight pairs chance may have made it, of losses in every pair not."""
    lost = np.zeros((8, 2))
    lost[:, 0] = 1.25
    lost[:, 1] = [30, 0, 0, 30, 0, 0, 0, 0] if bursts else 7.5
    assert is_luck(20.0 * lost, Losses(lost, np.full((8, 2), 1000.0))) is expected
