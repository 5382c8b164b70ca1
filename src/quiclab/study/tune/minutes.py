# SPDX-License-Identifier: Apache-2.0
"""The minutes of a search, shared out: how many settings can race, how many blocks each round has, how many fresh
blocks and neighbouring networks there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from quiclab.study.tune.racing import rounds_of

RACE, COMBINE, FRESH, NEIGHBOURS = 0.45, 0.1, 0.2, 0.25
"""Shares of the time."""
RACE_ENDS, COMBINING_ENDS, FRESH_ENDS = RACE, RACE + COMBINE, RACE + COMBINE + FRESH
"""Shares of the time at which the stages end."""
LEAST_BLOCKS = 3
"""Fewest blocks of a round: of three one that went wrong is outvoted."""
LEAST_SETTINGS = 4
"""Fewest settings that are a search, where there are as many."""
STAGE_S = 7.0
"""Time of a stage beside its trials: namespaces are made, tables are written and read."""


@dataclass(frozen=True)
class Shares:
    """Numbers of settings, blocks and networks that fit into minutes."""

    settings: int
    """Settings that race."""
    fresh_blocks: int
    """Fresh blocks that fit into their share; more run where the rest is not needed."""
    neighbours: int
    """Neighbouring networks."""


def shares(
    minutes: float, trial_s: float, settings: int, least_pairs: int, neighbours: int, alpha: float
) -> Shares | None:
    """Numbers that fit into the minutes, of so many settings and neighbouring networks that there are; None where the
    minutes do not suffice for the fewest settings and the fewest blocks that decide anything."""
    from quiclab.compare.statistics import pairs_needed  # late, as it loads what has threads

    whole_s = 60 * minutes
    fresh = math.floor((FRESH * whole_s - STAGE_S) / (2 * trial_s))
    racing = next((n for n in range(settings, 0, -1) if race_s(n, trial_s) <= RACE * whole_s), 0)
    if racing < min(settings, LEAST_SETTINGS) or fresh < least_pairs:
        return None
    held_out_s = NEIGHBOURS * whole_s - STAGE_S
    fitting = (n for n in range(neighbours, 0, -1) if 2 * n * pairs_needed(alpha, n) * trial_s <= held_out_s)
    return Shares(racing, fresh, next(fitting, 0))


def least_minutes(trial_s: float, settings: int, least_pairs: int) -> int:
    """Fewest whole minutes that suffice."""
    minutes = 1
    while shares(minutes, trial_s, settings, least_pairs, 0, 0.05) is None:
        minutes += 1
    return minutes


def race_s(settings: int, trial_s: float) -> float:
    """Time of a race of so many settings whose rounds have the fewest blocks."""
    rounds = rounds_of(settings)
    return sum(LEAST_BLOCKS * (1 + each) for each in rounds) * trial_s + len(rounds) * STAGE_S


def blocks_in(left_s: float, settings: int, trial_s: float) -> int:
    """Blocks of the next round, if the rounds of a race share its time."""
    return max(LEAST_BLOCKS, math.floor((left_s / len(rounds_of(settings)) - STAGE_S) / ((1 + settings) * trial_s)))
