# SPDX-License-Identifier: Apache-2.0
"""Number of pairs that a difference that matters would take: by a study's own noise, else over a range of noises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quiclab.compare.statistics import pairs_for_noise, pairs_in_noise_of
from quiclab.model import number_text

NOISES_PCT = (1.0, 3.0, 10.0)
"""Standard deviations of the difference within a pair, in per cent, of a study that has not run."""
_NAMED = 3
_FEW = 20
"""Pairs below which what they say of the noise is rough: of 7 pairs four guesses of five lie between a fifth of the
right number and twice that."""


@dataclass(frozen=True)
class Needed:
    """Pairs with which one comparison finds a difference that matters."""

    cell: str
    arm: str
    have: int
    """Pairs that its noise is known by."""
    pairs: int | None
    """Pairs that it takes; None where so few pairs tell no noise, or the noise hides the difference for good."""


@dataclass(frozen=True)
class Power:
    """Pairs that it takes to find a difference that matters in four studies of five, if no other cell differs."""

    matters_pct: float
    planned: int
    by_noise: Mapping[float, int]
    """Standard deviation of the difference within a pair, in per cent → pairs."""
    by_cell: tuple[Needed, ...]
    """Each comparison by the pairs that have run; empty where none has."""

    @property
    def sentence(self) -> str:
        """Sentence for people: what the planned pairs find, and what the others would take."""
        known = [each for each in self.by_cell if each.pairs is not None]
        return self._over_cells(known) if known else self._over_noises()

    def _over_noises(self) -> str:
        first, *others = (f"{pairs} pairs at {sd:g} %" for sd, pairs in self.by_noise.items())
        return (
            f"A difference of {self.matters_pct:g} % (matters) is found in 4 of 5 studies with {first}, "
            f"{', '.join(others)} of noise (standard deviation of the difference within a pair); {self.planned} are "
            "planned. Once some have run, `quiclab plan STUDY` says it by their own noise."
        )

    def _over_cells(self, known: Sequence[Needed]) -> str:
        more = sorted((each for each in known if (each.pairs or 0) > self.planned), key=lambda each: -(each.pairs or 0))
        enough = len(known) - len(more)
        several = len({each.arm for each in known}) > 1
        named = [f"{each.cell}{f' ({each.arm})' if several else ''} {each.pairs}" for each in more[:_NAMED]]
        rest = f", and {len(more) - _NAMED} more cells take less" if len(more) > _NAMED else ""
        rough = " A rough guess, as it is from few pairs." if min(each.have for each in known) < _FEW else ""
        return (
            f"By the noise of the pairs that have run, {self.planned} find a difference of {self.matters_pct:g} % "
            f"(matters) in 4 of 5 studies in {enough} of {number_text.counted(len(self.by_cell), 'cell')}"
            + (f"; pairs that others take: {', '.join(named)}{rest}" if named else "")
            + f".{rough}"
        )


def power_to_see(
    matters_pct: float, planned: int, alpha: float, comparisons: int, directory: Path | None = None
) -> Power:
    """Pairs that it takes at `alpha` after correction over so many `comparisons`, if one of them differs alone;
    `directory` is that of the study if it has one."""
    effect, level = 100 * math.log1p(matters_pct / 100), alpha / comparisons
    by_noise = {sd: pairs_for_noise(sd, effect, level) for sd in NOISES_PCT}
    return Power(matters_pct, planned, by_noise, _by_cell(directory, effect, level) if directory is not None else ())


def _by_cell(directory: Path, effect: float, level: float) -> tuple[Needed, ...]:
    # Here: a plan that has not run needs nothing of what analyses a study.
    from quiclab.compare.analyse import analyse
    from quiclab.compare.paired import within_pairs
    from quiclab.compare.study import read_study

    analysis = analyse(read_study(directory))
    found = []
    for each in analysis.comparisons:
        within = within_pairs(each.baseline, each.other, analysis.metric)
        pairs = pairs_in_noise_of(100 * within.values, effect, level) if within.has_ratios else None
        found.append(Needed(each.cell_id, each.other.arm, int(np.isfinite(within.values).sum()), pairs))
    return tuple(found)
