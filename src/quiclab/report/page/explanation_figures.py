# SPDX-License-Identifier: Apache-2.0
"""Why arms differ: the figures that show it, where the difference is largest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quiclab.compare.model import StudyAnalysis
from quiclab.report.page.pair_figures import Drawn
from quiclab.report.page.pairs import Cell


@dataclass(frozen=True)
class Why:
    """The place to look for reasons, and the figures that show it."""

    place: str
    """Title of the cell."""
    reason: str
    """Reason for the choice of this cell."""
    leads: tuple[tuple[str, str], ...]
    """(question, link to the figure that answers it for the cell's median trials)."""


def why(analysis: StudyAnalysis, cells: Sequence[Cell], shown: Mapping[str, Sequence[Drawn]]) -> Why | None:
    """The cell of the largest difference that was found, else the first; None where no page of a cell has a figure."""
    significant = [c for c in analysis.comparisons if c.outcome.significant]
    largest = max(significant, key=lambda c: abs(c.difference_pct or 0), default=None)
    wanted = [cell for cell in cells if largest is not None and cell.cell_id == largest.cell_id] or list(cells)
    pair = next((pair for cell in wanted for pair in cell.pairs if shown.get(pair.file)), None)
    if pair is None:
        return None
    reason = "where the difference is largest" if largest is not None else "though no difference was found"
    leads = tuple((drawn.question, f"{pair.file}#figure-{drawn.name}") for drawn in shown[pair.file])
    return Why(pair.cell_title, reason, leads)
