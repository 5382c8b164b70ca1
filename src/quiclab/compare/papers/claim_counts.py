# SPDX-License-Identifier: Apache-2.0
"""A paper's claim that something is so in many of its cells: how many of ours are so, are not, and are open.

The paper has other cells than ours, and often more: what is held is the share. Cells that are open may or may not be
so, and a verdict is given only where they cannot change it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from quiclab.compare.model import Comparison, Conclusion, Metric
from quiclab.compare.papers.claim_finding import CELLS, CountedCell, Finding
from quiclab.compare.papers.claim_numbers import Number
from quiclab.compare.papers.claim_verdict import FACTORS, Verdict
from quiclab.compare.papers.paper import Expected
from quiclab.compare.statistics import Interval
from quiclab.model import number_text
from quiclab.model.paper_record import CountedRecord

LOWER, HIGHER, ALIKE, INCONCLUSIVE = "lower", "higher", "equivalent", "inconclusive"
_ALL = frozenset({LOWER, HIGHER, ALIKE})
_COUNTS = {
    "lower": frozenset({LOWER}),
    "higher": frozenset({HIGHER}),
    "same": frozenset({ALIKE}),
    "not lower": _ALL - {LOWER},
    "not higher": _ALL - {HIGHER},
    "lowest": frozenset({LOWER}),
    "highest": frozenset({HIGHER}),
}
"""Condition of a cell → states of a comparison with which it counts."""
_ROUNDING = 1e-9


def state_of(found: Comparison, metric: Metric) -> tuple[frozenset[str], str]:
    """States that a comparison may be in, by the study's own test beside what matters, and its state in a word."""
    if found.conclusion is Conclusion.NOT_JUDGED:
        return _ALL, Verdict.NOT_JUDGED.value
    if found.conclusion in (Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE, Conclusion.SMALL):
        return frozenset({ALIKE}), ALIKE
    towards = LOWER if (found.leans > 0) == metric.lower_is_better else HIGHER
    if found.conclusion is Conclusion.DIFFERENT:
        return frozenset({towards}), towards
    if found.conclusion is Conclusion.PERHAPS_SMALL:
        return frozenset({towards, ALIKE}), f"{towards} or {ALIKE}"
    return _ALL, INCONCLUSIVE


def compared_cell(counted: CountedRecord, found: Sequence[tuple[Comparison, Metric]]) -> tuple[Verdict, str]:
    """Return the verdict that a cell counts or not, and its state in a word, by the comparisons of its last arm with
    each of the others."""
    if any(each.conclusion is Conclusion.NOT_MEASURED for each, _ in found):
        return Verdict.NOT_TESTABLE, Verdict.NOT_TESTABLE.value
    asked = _COUNTS[counted.direction or ""]
    possible = [state_of(*each) for each in found]
    if all(states <= asked for states, _ in possible):
        return Verdict.AGREES, possible[0][1] if len(found) == 1 else counted.text
    if any(states.isdisjoint(asked) for states, _ in possible):
        return Verdict.DIFFERS, possible[0][1] if len(found) == 1 else f"not {counted.text}"
    open_states = [word for states, word in possible if not states <= asked]
    is_spoiled = set(open_states) == {Verdict.NOT_JUDGED.value}
    return (Verdict.NOT_JUDGED if is_spoiled else Verdict.INCONCLUSIVE), open_states[0]


def bounded_cell(counted: CountedRecord, ours: Number) -> tuple[Verdict, str]:
    """Return the verdict that the number of a cell is within bounds or not, and its state in a word."""
    factor = 1.0 if counted.unit == ours.unit else FACTORS.get((counted.unit or "", ours.unit))
    if factor is None or ours.obstacle:
        return Verdict.NOT_TESTABLE, Verdict.NOT_TESTABLE.value
    low = -math.inf if counted.low is None else counted.low * factor
    high = math.inf if counted.high is None else counted.high * factor
    interval = ours.interval
    if interval is None:
        return Verdict.INCONCLUSIVE, INCONCLUSIVE
    if low < interval.low and interval.high < high:
        return Verdict.AGREES, counted.text
    if interval.high < low or interval.low > high:
        return Verdict.DIFFERS, f"not {counted.text}"
    return Verdict.INCONCLUSIVE, INCONCLUSIVE


def count_of(expected: Expected, cells: Sequence[CountedCell], confidence: float) -> Finding:
    """Return the count of a claim's cells: its verdict, the least and the most that the number may be, and in words
    how many cells are in which state."""
    tested = [cell for cell in cells if cell.finding.verdict is not Verdict.NOT_TESTABLE]
    if not tested:
        whys = dict.fromkeys(cell.finding.why for cell in cells)
        return Finding("", "", Verdict.NOT_TESTABLE, " ".join(list(whys)[:1]), unit=CELLS)
    verdicts = Counter(cell.finding.verdict for cell in tested)
    least, n = verdicts[Verdict.AGREES], len(tested)
    most = n - verdicts[Verdict.DIFFERS]
    if all(_is_papers(number, n, expected) for number in range(n + 1)):
        why = f"{states_text(tested)}: of so few cells every number would be the paper's."
        return Finding("", "", Verdict.NOT_TESTABLE, why, float(least), None, CELLS, n)
    verdict = _verdict([_is_papers(number, n, expected) for number in range(least, most + 1)])
    if verdict is Verdict.INCONCLUSIVE and not verdicts[Verdict.INCONCLUSIVE]:
        verdict = Verdict.NOT_JUDGED
    why = f"{states_text(tested)}."
    if expected.cells and expected.cells != n:
        why += f" The paper has {number_text.counted(expected.cells, 'cell')}: the share is held."
    if len(tested) < len(cells):
        why += f" {len(cells) - len(tested)} of the claim's {len(cells)} cells cannot be tested here."
    interval = Interval(float(least), float(most), confidence)
    return Finding("", "", verdict, why, float(least), interval, CELLS, n)


def states_text(cells: Iterable[CountedCell]) -> str:
    """Return how many cells are in which state, the most frequent first: `16 cells lower, 3 higher, 1 inconclusive`."""
    counts = Counter(cell.state for cell in cells).most_common()
    told = [f"{count} {state}" for state, count in counts]
    if told:
        state, count = counts[0]
        told[0] = f"{number_text.counted(count, 'cell')} {state}"
    return ", ".join(told)


def _verdict(possible: Sequence[bool]) -> Verdict:
    """Return the verdict where these numbers of cells may be ours, each of them the paper's or not."""
    if all(possible):
        return Verdict.AGREES
    return Verdict.INCONCLUSIVE if any(possible) else Verdict.DIFFERS


def _is_papers(number: int, n: int, expected: Expected) -> bool:
    """True if so many of n cells are the paper's share: in its range or margin or, without one, the nearest number that
    so many cells can have."""
    share = number / n
    if expected.is_above and share <= expected.low + _ROUNDING:
        return False
    around = 0.0 if expected.is_range or expected.margin else 0.5 / min(n, expected.cells or n)
    return expected.low - around - _ROUNDING <= share <= expected.high + around + _ROUNDING
