# SPDX-License-Identifier: Apache-2.0
"""Cells that the laboratory spoiled: what it added could turn their answer, or cost them pairs that it would take.

Neither is "undecided": there the trials themselves leave it open, and more of them may tell. A cell that has an answer
in spite of what the laboratory did is judged, with however few of its planned pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from quiclab.compare.cell_comparison import compare
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Metric, Outcome
from quiclab.model import number_text

AGAIN = "Run the study again while less else runs on this machine."
"""Advice where the disturbance could turn the answer: trials that count are not run again."""
TRY_AGAIN = (
    "Run the same command again while less else runs on this machine: it repeats them. Or write, say, disturbance = "
    '"3 %" under [limits]: more trials count then, and the interval is wider by what they owe to the machine.'
)
"""Advice where pairs are lacking."""


def as_measured(comparison: Comparison, metric: Metric, alpha: float) -> Comparison:
    """The comparison as if the laboratory had added nothing to the trials that count; its outcome is to be decided."""
    cell = (comparison.cell_id, comparison.kind, comparison.workload, comparison.path)
    return compare(cell, bare(comparison.baseline), bare(comparison.other), metric, alpha)


def bare(arm: ArmResult) -> ArmResult:
    """The arm with its values as measured, without the ends between which they may lie."""
    return replace(arm, trials=tuple(replace(trial, least=None, most=None) for trial in arm.trials))


def judged(
    found: Sequence[Comparison], measured: Callable[[], Sequence[Comparison]], matters_pct: float
) -> list[Comparison]:
    """The comparisons with those that are not judged called so; `measured` gives them as they would be if the
    laboratory had added nothing, in the same order."""
    disturbed = any(arm.is_disturbed for each in found for arm in (each.baseline, each.other))
    return [
        _judged(each, without, matters_pct)
        for each, without in zip(found, measured() if disturbed else found, strict=True)
    ]


def _judged(found: Comparison, measured: Comparison, matters_pct: float) -> Comparison:
    why = why_not_judged(found.conclusion, measured.conclusion, found.pairs, found.lost, matters_pct)
    if not why:
        return found
    return replace(found, outcome=Outcome.NOT_JUDGED, conclusion=Conclusion.NOT_JUDGED, why=why)


def why_not_judged(found: Conclusion, measured: Conclusion, pairs: int, lost: int, matters_pct: float) -> str:
    """Reason for not judging a cell; "" if the cell is judged, or is open for another reason than the laboratory.

    `found` is its conclusion when the disturbance is allowed for, `measured` the one without; `pairs` count, and so
    many more were `lost`.
    """
    if found not in (Conclusion.UNDECIDED, Conclusion.NOT_MEASURED):
        return ""
    if measured.found:
        return f"Disturbed: what this machine added to the trials could account for their difference. {AGAIN}"
    if measured.decided:
        return (
            f"Disturbed: what this machine added to the trials could hide a difference of {matters_pct:g} % or more. "
            f"{AGAIN}"
        )
    if not lost:
        return ""
    planned = number_text.counted(pairs + lost, "planned pair")
    return f"Disturbed: {pairs} of {planned} count, which are too few to tell. {TRY_AGAIN}"
