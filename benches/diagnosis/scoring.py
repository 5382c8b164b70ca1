# SPDX-License-Identifier: Apache-2.0
"""Scores of results at three levels: of one cause, of two, and of arms without any; coverage beside each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from planted import BY_NAME, CAUSES
from trials import Result, ScoredVerdict, result_from_json

from quiclab.compare.statistics import share_interval
from quiclab.why.mechanisms import BY_NAME as MECHANISMS

SHOWN = ("indicated", "shown by the records")
"""Status of a verdict that shows a mechanism without a run that took it away."""
NAMED = (*SHOWN, "luck")
"""Status of a verdict that names a mechanism."""
UNDECIDED = "undecided"


def read(files: Iterable[Path]) -> list[Result]:
    """Results of some files, in the order of their cases."""
    rows = [result_from_json(line) for file in files for line in file.read_text().splitlines()]
    return sorted(rows, key=lambda row: tuple(int(part) for part in row.name.split("/")))


def top(told: Sequence[ScoredVerdict]) -> ScoredVerdict | None:
    """The largest verdict; None where the pairs do not show its difference."""
    first = next((each for each in told if each.found or each.status == UNDECIDED), None)
    return first if first is not None and first.found else None


def first_name(told: Sequence[ScoredVerdict]) -> ScoredVerdict | None:
    """The largest verdict that shows a difference, where it names a mechanism that a run can test."""
    first = next((each for each in told if each.found), None)
    return first if first is not None and first.status in SHOWN and first.mechanism is not None else None


def names(told: ScoredVerdict | None, cause: str) -> bool:
    """True if a verdict names a cause."""
    return told is not None and told.status in NAMED and told.mechanism in BY_NAME[cause].mechanisms


def _mechanism(result: Result) -> bool:
    return names(top(result.verdicts), result.causes[0])


def _family(result: Result) -> bool:
    first = top(result.verdicts)
    family = MECHANISMS[BY_NAME[result.causes[0]].mechanisms[0]].family.value
    return names(first, result.causes[0]) or (first is not None and first.family == family)


def _setting(result: Result) -> bool:
    first = top(result.verdicts)
    return first is not None and BY_NAME[result.causes[0]].setting in first.settings


def is_named(result: Result) -> bool:
    """True if the largest verdict names any mechanism."""
    first = top(result.verdicts)
    return first is not None and first.status in NAMED


@dataclass(frozen=True)
class Score:
    """Number of cases that were answered, and of right answers among them."""

    cases: int
    answered: int
    right: int

    @property
    def cells(self) -> tuple[str, ...]:
        """Cells of a table: cases, coverage, accuracy, its lower bound, right of all."""
        return (str(self.cases), share(self.answered, self.cases), share(self.right, self.answered),
                bound(self.right, self.answered), share(self.right, self.cases))  # fmt: skip


def share(part: int, whole: int) -> str:
    """A count of another one, and its per cent."""
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "none"


def bound(part: int, whole: int) -> str:
    """Lower bound of a share: one-sided, 95 %, Clopper and Pearson."""
    return f"{100 * share_interval(part, whole, 0.9).low:.0f} %" if whole else "—"


def score_of(results: Sequence[Result], right: Callable[[Result], bool] = _mechanism) -> Score:
    """The score of cases with one cause."""
    answered = [each for each in results if is_named(each)]
    return Score(len(results), len(answered), sum(map(right, answered)))


def wrong_of_null(result: Result) -> ScoredVerdict | None:
    """The largest mechanism named for a difference of arms that do not differ; None where none is.

    Luck is none, as losses fall differently, nor is a switch that costs next to nothing, and is named for that.
    """
    cause = next(iter(result.causes), None)
    named = (each for each in result.verdicts if each.found and each.status in SHOWN)
    return next((each for each in named if cause is None or not names(each, cause)), None)


def open_set_answer(result: Result) -> str:
    """Text where no detector knows the cause: `unknown`, `several`, `nothing`, or the name of another one."""
    first = top(result.open_set)
    if first is None:
        return "nothing"
    return first.status.split(",")[0].split()[0] if first.mechanism is None else first.mechanism


def both_named(result: Result) -> bool:
    """True if the two largest verdicts name both causes, one each."""
    first = [each for each in result.verdicts if each.found][:2]
    one, other = result.causes
    return len(first) == 2 and any(names(a, one) and names(b, other) for a, b in (first, first[::-1]))


def both_told(result: Result) -> bool:
    """True if the two largest verdicts name both causes, or one of them names one and says that the other holds next:
    that it is hidden by it."""
    first = [each for each in result.verdicts if each.found][:2]
    hidden = any(
        names(told, one) and told.next_mechanism in BY_NAME[other].mechanisms
        for told in first
        for one, other in (result.causes, result.causes[::-1])
    )
    return both_named(result) or hidden


def errors_pct(results: Iterable[Result]) -> list[float]:
    """Exact effect less the time that the verdicts give the cause, in per cent of the planted arm's time, unsigned."""
    found = []
    for each in results:
        named = sum(told.difference_ms for told in each.verdicts if names(told, each.causes[0]))
        found.append(100 * abs(named - each.effects_ms[0]) / each.planted_ms)
    return sorted(found)


def in_turns() -> list[str]:
    """The causes, in the order in which they are planted."""
    return [cause.name for cause in CAUSES]


LEVELS: tuple[tuple[str, Callable[[Result], bool]], ...] = (
    ("family", _family),
    ("mechanism", _mechanism),
)
SETTING = _setting
