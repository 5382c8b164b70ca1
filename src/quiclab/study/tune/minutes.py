# SPDX-License-Identifier: Apache-2.0
"""The minutes of a search, shared out: how many settings each heat of the race has, how many blocks each round, how
many fresh blocks and neighbouring networks there are."""

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
"""Fewest settings that are a heat, where there are as many."""
STAGE_S = 7.0
"""Time of a stage beside its trials: namespaces are made, tables are written and read."""


@dataclass(frozen=True)
class Shares:
    """Numbers of settings, blocks and networks that fit into minutes."""

    settings: int
    """Settings of the first heat, for which the minutes surely suffice."""
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
    racing = heat_of(settings, RACE * whole_s, trial_s)
    if not racing or fresh < least_pairs:
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
    """Time of a heat of so many settings whose rounds have the fewest blocks."""
    rounds = rounds_of(settings)
    return sum(LEAST_BLOCKS * (1 + each) for each in rounds) * trial_s + len(rounds) * STAGE_S


def heat_of(settings: int, left_s: float, trial_s: float) -> int:
    """Settings, of so many that have not raced, of a heat that ends in the time left; 0 where it would be too few."""
    fitting = next((n for n in range(settings, 0, -1) if race_s(n, trial_s) <= left_s), 0)
    return fitting if fitting >= min(settings, LEAST_SETTINGS) else 0


def blocks_in(left_s: float, settings: int, trial_s: float, waiting: int = 0) -> int:
    """Blocks of the next round, if the rounds of a heat share the time that no further heat of those `waiting` needs:
    what is left over tries further settings first."""
    further = heat_of(waiting, left_s - race_s(settings, trial_s), trial_s)
    own_s = left_s - (race_s(further, trial_s) if further else 0)
    return max(LEAST_BLOCKS, math.floor((own_s / len(rounds_of(settings)) - STAGE_S) / ((1 + settings) * trial_s)))


def heats_end(minutes: float, trial_s: float, least_pairs: int) -> float:
    """Share of the minutes at which heats end while no setting has gained in any: there is nothing to combine or to
    check yet, and the rest is the fresh blocks' share, or what the fewest that decide anything take."""
    return 1 - max(FRESH, (2 * least_pairs * trial_s + STAGE_S) / (60 * minutes))
