# SPDX-License-Identifier: Apache-2.0
"""The sentence above a cell's list of causes: by how much two arms' mean times differ, and why.

It names the entries of the list below it, with the same numbers. The terminal, `quiclab explain`, its JSON and the
report all take it from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quiclab.compare.model import Conclusion
from quiclab.compare.statistics import pairs_needed, smallest_p
from quiclab.model import number_text
from quiclab.report.words.account import interval_of, longer
from quiclab.why.account import Why
from quiclab.why.accounts import Waterfall
from quiclab.why.causes import SMALL_PCT, Status, Verdict

_MOST = 3
"""Parts that are named where none is shown."""
_CANCELS = 0.25
"""Share of the gains that losses must reach (or the reverse) for the two to be told as cancelling."""


@dataclass(frozen=True)
class _NamedPart:
    """A part of the difference as the headline has it: of the list of causes, or where there is none of the waits."""

    name: str
    difference_ms: float
    shown: bool
    luck: bool
    why: Why
    """The wait that has most of its time."""

    @property
    def clause(self) -> str:
        return f"{self.name} ({signed(self.difference_ms)})"


def headline(waterfall: Waterfall, causes: Sequence[Verdict], alpha: float) -> str:
    """Say by how much the other arm's mean time differs, which of the causes below are shown, and which are unclear.

    `causes` are the cell's verdicts. Where its tables name none, the waits of the account stand in their place.
    """
    if not waterfall.pairs:
        return "no pair has an account of its time."
    comparison = waterfall.comparison
    if comparison.conclusion is Conclusion.NOT_JUDGED:
        return f"not judged. {comparison.why}".rstrip()
    typical = _typical_pair(waterfall, alpha)
    return f"{_because(waterfall, causes, alpha)}{typical}"


def _because(waterfall: Waterfall, causes: Sequence[Verdict], alpha: float) -> str:
    parts = _parts(waterfall, causes, alpha)
    told, noun = _whole(waterfall, alpha), "cause" if causes else "wait"
    shown = [each for each in parts if each.shown and not each.luck]
    luck = [each for each in parts if each.shown and each.luck]
    unclear = [each for each in parts if not each.shown]
    pairs = number_text.counted(waterfall.pairs, "pair")
    if shown:
        told = f"{told}: {_listed(shown)}.{_cancelling(shown)}"
    elif not luck:
        verb = "shows" if waterfall.pairs == 1 else "show"
        named = f" Largest on average: {_listed(unclear[:_MOST])}." if unclear else ""
        return f"{told}; {pairs} {verb} no {noun} of a difference.{named}"
    else:
        told = f"{told}."
    if luck:
        told = f"{told} Mostly luck: {_listed(luck)}."
    return f"{told} Unclear with {pairs}: {_listed(unclear)}." if unclear else told


def _typical_pair(waterfall: Waterfall, alpha: float) -> str:
    """Say what the typical pair shows where the mean times say something else, so that neither contradicts the other:
    times add up in means, and the answer of a cell is that of the typical pair, which single trials hardly move."""
    comparison, total = waterfall.comparison, waterfall.total
    shown, pct = total.differs(alpha), comparison.difference_pct
    if shown and comparison.conclusion in (Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE):
        return " In the typical pair, which the answer is about, the arms differ by less than matters: alike."
    if not comparison.conclusion.found or pct is None or (shown and (total.difference_ms < 0) == (pct > 0)):
        return ""
    less = "less" if pct > 0 else "more"
    takes = f"{comparison.other.arm} takes {number_text.percent(abs(pct), signed=False)} {less} time"
    why = "single trials far off move the mean" if shown else "the mean, which single trials move, does not show it"
    return f" In the typical pair, which the answer is about, {takes}: {why}."


def clauses(waterfall: Waterfall, causes: Sequence[Verdict], alpha: float) -> list[tuple[str, Why]]:
    """The clauses of the headline that have numbers, each with the wait in which its time lies."""
    return [(each.clause, each.why) for each in _parts(waterfall, causes, alpha)]


def signed(difference_ms: float) -> str:
    """Return a difference with its sign: `−1.21 s`; positive where the other arm takes longer."""
    return f"{'+' if difference_ms > 0 else '−'}{number_text.quantity(abs(difference_ms), 'ms')}"


def _parts(waterfall: Waterfall, causes: Sequence[Verdict], alpha: float) -> list[_NamedPart]:
    """The parts that make a difference, the largest first."""
    if causes:
        return [
            _NamedPart(
                each.title,
                each.step.difference_ms,
                each.status.found,
                each.status is Status.LUCK,
                each.most,
            )
            for each in causes
            if each.status is not Status.IN_BOTH
        ]
    least_ms = SMALL_PCT / 100 * waterfall.gross_ms
    large = [step for step in waterfall.steps if isinstance(step.label, Why) and abs(step.difference_ms) >= least_ms]
    return [
        _NamedPart(step.label.heading, step.difference_ms, step.differs(alpha), luck=False, why=step.label)
        for step in sorted(large, key=lambda step: -abs(step.difference_ms))
        if isinstance(step.label, Why) and step.difference_ms
    ]


def _whole(waterfall: Waterfall, alpha: float) -> str:
    """Say what the pairs show of the mean times: one verdict, and an interval that agrees with it."""
    total, other = waterfall.total, waterfall.comparison.other.arm
    interval = f" ({interval_of(total)})" if total.interval_ms else ""
    takes = f"{other} takes {longer(total.difference_ms)} on average"
    if total.differs(alpha):
        return f"{takes}{interval}"
    if smallest_p(waterfall.pairs) > alpha:
        few = number_text.counted(waterfall.pairs, "pair")
        verb = "is" if waterfall.pairs == 1 else "are"
        return f"{takes}, and {few} {verb} too few to show a difference ({pairs_needed(alpha, 1)} are the least)"
    open_ = f"{signed(total.difference_ms)}{f', {interval_of(total)}' if total.interval_ms else ''}"
    return f"the mean times are not shown to differ ({open_})"


def _listed(parts: Sequence[_NamedPart]) -> str:
    return number_text.listed([each.clause for each in parts])


def _cancelling(shown: Sequence[_NamedPart]) -> str:
    """Say so where gains and losses are both large: their sum alone would hide them."""
    more = sum(each.difference_ms for each in shown if each.difference_ms > 0)
    less = -sum(each.difference_ms for each in shown if each.difference_ms < 0)
    if min(more, less) < _CANCELS * max(more, less) or not min(more, less):
        return ""
    return f" These work against each other: {_ms(more)} more, {_ms(less)} less."


def _ms(value: float) -> str:
    return number_text.quantity(value, "ms")
