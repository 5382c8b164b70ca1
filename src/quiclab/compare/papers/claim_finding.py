# SPDX-License-Identifier: Apache-2.0
"""Results of a claim: our number and a verdict in each of its cells, or over all cells that it counts."""

from __future__ import annotations

from dataclasses import dataclass

from quiclab.compare.model import Conclusion
from quiclab.compare.papers.claim_verdict import Verdict
from quiclab.compare.papers.paper import Claim
from quiclab.compare.statistics import Interval

Place = tuple[str, str, str]
"""Claim, workload and path."""
CELLS = "cells"
"""Unit of a count."""


@dataclass(frozen=True)
class Finding:
    """One cell of a claim; of a count all cells together."""

    workload: str
    """Name of the workload; empty of a count."""
    path: str
    """Name of the path; empty of a count."""
    verdict: Verdict
    why: str
    """A sentence where it does not agree."""
    ours: float | None = None
    """Our number for the quantity of the paper; for a direction, the change of the second arm beside the first."""
    interval: Interval | None = None
    unit: str = ""
    n: int = 0
    """Pairs of two arms, trials of one, cells of a count."""
    p: float | None = None
    adjusted_p: float | None = None
    conclusion: Conclusion | None = None
    """Conclusion of a direction's comparison beside what matters."""


@dataclass(frozen=True)
class CountedCell:
    """One cell of a count."""

    finding: Finding
    """Our number in it; the verdict is that the cell counts (agrees), does not (differs), or is open."""
    state: str
    """State in a word: `lower`, `equivalent`, `above 3.4 s`, `inconclusive`."""


@dataclass(frozen=True)
class Judged:
    """A claim with all of its cells; one that the paper's file calls not testable has none."""

    claim: Claim
    verdict: Verdict
    cells: tuple[Finding, ...]
    counted: tuple[CountedCell, ...] = ()
    """The cells of a count, which has them together in `cells`."""

    @property
    def tested(self) -> int:
        """Cells that could be tested."""
        return sum(cell.verdict is not Verdict.NOT_TESTABLE for cell in self.cells)
