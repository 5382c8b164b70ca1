# SPDX-License-Identifier: Apache-2.0
"""Cells that the laboratory spoiled: what it added could turn their answer, or cost them pairs that it would take.

Neither is "undecided": there the trials themselves leave it open, and more of them may tell. A cell that has an answer
in spite of what the laboratory did is judged, with however few of its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from quiclab.compare.cell_comparison import compare
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Metric, Outcome
from quiclab.model import number_text

AGAIN = "Run the study again while less else runs on this machine."
"""Advice where the disturbance could turn the answer: trials that count are not run again."""
GO_ON = "`quiclab run STUDY`"
"""Stand-in in the advice for the command of the study at hand, which `advice_for` puts there."""
_MORE_PCT = 3
"""Disturbance, in per cent, that a study is advised to tolerate, which has less."""
TOLERATE_MORE = (
    f' Or write, say, disturbance = "{_MORE_PCT} %" under [limits]: more trials count then, and the interval is wider '
    "by what they owe to the machine."
)
"""End of the advice, for a study that tolerates less."""
TRY_AGAIN = f"Run {GO_ON} while less else runs on this machine: it repeats them.{TOLERATE_MORE}"
"""Advice where pairs are lacking."""


def advice_for(why: str, command: str, tolerated_pct: float | None) -> str:
    """A reason with what goes on with its study, and without advice to tolerate what it does already."""
    told = why.replace(GO_ON, command)
    return told if tolerated_pct is None or tolerated_pct < _MORE_PCT else told.replace(TOLERATE_MORE, "")


def as_measured(comparison: Comparison, metric: Metric, alpha: float) -> Comparison:
    """The comparison as if the laboratory had added nothing to the trials that count; its outcome is to be decided."""
    cell = (comparison.cell_id, comparison.kind, comparison.workload, comparison.path)
    return compare(cell, bare(comparison.baseline), bare(comparison.other), metric, alpha)


def bare(arm: ArmResult) -> ArmResult:
    """The arm with its values as measured, without the ends between which they may lie."""
    return replace(arm, trials=tuple(replace(trial, least=None, most=None) for trial in arm.trials))


def judged(
    found: Sequence[Comparison],
    measured: Callable[[], Sequence[Comparison]],
    matters_pct: float,
    alone: Callable[[int], Conclusion] | None = None,
) -> list[Comparison]:
    """The comparisons with those that are not judged called so; `measured` gives them as they would be if the
    laboratory had added nothing, in the same order, and `alone` the conclusion of one of them if it had disturbed the
    trials of no other; None where a conclusion follows from its own trials alone."""
    disturbed = [each.baseline.is_disturbed or each.other.is_disturbed for each in found]
    without = measured() if any(disturbed) else found
    ends = [(each.conclusion, bare.conclusion) for each, bare in zip(found, without, strict=True)]
    names = [each.cell_id for each in found]
    if len(set(names)) < len(names):
        names = [f"{each.cell_id} ({each.other.arm})" for each in found]
    return [
        _judged(each, bare, matters_pct, turned_by_others(at, ends, disturbed, names, alone))
        for at, (each, bare) in enumerate(zip(found, without, strict=True))
    ]


def _judged(found: Comparison, measured: Comparison, matters_pct: float, others: Sequence[str]) -> Comparison:
    why = why_not_judged(found.conclusion, measured.conclusion, found.pairs, found.lost, matters_pct, others)
    if not why:
        return found
    return replace(found, outcome=Outcome.NOT_JUDGED, conclusion=Conclusion.NOT_JUDGED, why=why)


def turned_by_others(
    at: int,
    ends: Sequence[tuple[Conclusion, Conclusion]],
    disturbed: Sequence[bool],
    names: Sequence[str],
    alone: Callable[[int], Conclusion] | None,
) -> list[str]:
    """Names of the cells whose disturbed trials leave the cell `at` open, which its own trials do not; none where its
    own do, or where it is not open.

    `ends` are the conclusions of all cells with the disturbance allowed for, and without it. Such a cell keeps no
    answer: after Benjamini and Hochberg (1995, J. R. Statist. Soc. B 57) its adjusted p falls with every other p that
    is small, so that others whose p may be larger than measured cannot help it. Each counts by the largest p that it
    may have, at most 1, by which the correction holds whatever the machine did.
    """
    found, measured = ends[at]
    others = [place for place, is_disturbed in enumerate(disturbed) if is_disturbed and place != at]
    if alone is None or found not in _OPEN or measured in _OPEN or not others:
        return []
    if disturbed[at] and alone(at) in _OPEN:
        return []
    turned = [place for place in others if ends[place][0] in _OPEN and ends[place][1] not in _OPEN]
    return [names[place] for place in turned or others]


_OPEN = (Conclusion.UNDECIDED, Conclusion.NOT_MEASURED)
_MOST_NAMED = 5
_FEW_LOST = 0.1
"""Share of the pairs that ran up to which lost ones are no reason why a cell is open: they would hardly tell."""


def why_not_judged(
    found: Conclusion, measured: Conclusion, pairs: int, lost: int, matters_pct: float, others: Sequence[str] = ()
) -> str:
    """Reason for not judging a cell; "" if the cell is judged, or is open for another reason than the laboratory.

    `found` is its conclusion when the disturbance is allowed for, `measured` the one without; `pairs` count, and so
    many more were `lost`. `others` are the cells whose trials leave it open, where its own do not.
    """
    if found not in _OPEN:
        return ""
    if others:
        more = [f"{len(others) - _MOST_NAMED} more"] if len(others) > _MOST_NAMED else []
        named = number_text.listed([*others[:_MOST_NAMED], *more])
        return (
            f"Disturbed elsewhere: this cell's own trials would do, but what this machine added to those of {named} "
            f"leaves these open, and the correction over all cells then takes its answer from this one. {AGAIN}"
        )
    if measured.found:
        return f"Disturbed: what this machine added to the trials could account for their difference. {AGAIN}"
    if measured.decided:
        return (
            f"Disturbed: what this machine added to the trials could hide a difference of {matters_pct:g} % or more. "
            f"{AGAIN}"
        )
    if lost <= _FEW_LOST * (pairs + lost):
        return ""
    ran = number_text.counted(pairs + lost, "pair")
    return f"Disturbed: {pairs} of {ran} count, which are too few to tell. {TRY_AGAIN}"
