# SPDX-License-Identifier: Apache-2.0
"""Sentences about a history: its plan, and which releases changed the time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from quiclab.model.number_text import counted, ends_text, level, listed, percent, quantity
from quiclab.study.history.bisection import Standing
from quiclab.study.history.changes import HistoryFindings, ReleaseChange, ReleasePair, ReleaseResult
from quiclab.study.history.history_plan import HistoryPlan

_SHOWN = 12
"""Most releases that a plan lists, and most pairs that an answer does."""


def plan_lines(plan: HistoryPlan, comparisons: int, least: int, minutes: float) -> list[str]:
    """The plan, a line each."""
    kind = "commit" if plan.of_commits else "release"
    lines = [
        plan.sentence,
        f"  {plan.role}: {plan.program}, {counted(len(plan.releases), kind)}; "
        f"{'client' if plan.role == 'server' else 'server'}: {plan.other_text}; {plan.protocol}",
    ]
    shown = [*plan.releases[: _SHOWN // 2], *plan.releases[-_SHOWN // 2 :]]
    told = plan.releases if len(plan.releases) <= _SHOWN else shown
    for each in told:
        if len(told) < len(plan.releases) and each is told[_SHOWN // 2]:
            lines.append(f"    … {len(plan.releases) - len(told)} more")
        lines.append(f"    {each.name:12} {each.date or 'date not known'}{f'  {each.subject}' if each.subject else ''}")
    lines.append(
        f"  {counted(comparisons, 'pair')} of {kind}s can be compared at most, at a level of 5 % for all of them: "
        f"two differ after {counted(least, 'pair')} of trials at the earliest. {minutes:g} min at most"
    )
    return lines


def result_lines(found: HistoryFindings) -> list[str]:
    """The answer, a line each."""
    lines = [""]
    for change in found.changes:
        lines += _change_lines(change, found)
    if not found.changes:
        lines.append(_no_change(found))
    lines += ["", *_release_table(found.releases, found.unit)]
    lines += _compared(found)
    for each in found.releases:
        if each.unusable is not None:
            lines.append(f"Left out: {each.name}: {each.unusable}")
    return lines


def _change_lines(change: ReleaseChange, found: HistoryFindings) -> Iterator[str]:
    pair = change.pair
    older, newer = (quantity(each, found.unit) for each in (pair.older_median_in_unit, pair.newer_median_in_unit))
    medians = f"Medians: {older} → {newer}."
    name = pair.newer
    if change.not_measured:
        name = f"{pair.newer}, or {listed(list(change.not_measured))}, which could not be measured,"
    if change.located:
        yield f"{name} changed the time: {_amount(pair)} against {pair.older}. {medians}"
    else:
        yield (
            f"From {pair.older} to {pair.newer} the time changed: {_amount(pair)}. {medians} No single release between "
            "them is shown to have done it."
        )
    yield f"  {change.why}"
    if change.waits:
        parts = ", ".join(f"{each.wait} {_signed_ms(each.difference_ms)}{_mark(each.shown)}" for each in change.waits)
        yield f"  {pair.newer}, by wait: {parts}"


def _mark(shown: bool) -> str:
    return "" if shown else " (not shown)"


def _signed_ms(value: float) -> str:
    return f"{'+' if value > 0 else '−'}{quantity(abs(value), 'ms')}"


def _amount(pair: ReleasePair) -> str:
    """Difference of a pair with its interval and pairs: `−12 % (−15 … −9 %, 24 pairs)`."""
    told = [text for text in (_interval(pair), counted(pair.pairs, "pair")) if text]
    return f"{percent(pair.difference_pct)} ({', '.join(told)})"


def _interval(pair: ReleasePair) -> str:
    if pair.low_pct is None or pair.high_pct is None:
        return ""
    return ends_text(pair.low_pct, pair.high_pct, lambda value: percent(value).removesuffix(" %"), " %")


def _no_change(found: HistoryFindings) -> str:
    matters = f"{found.matters_pct:g} %"
    if not found.compared:
        return "Nothing was compared: fewer than two releases could be measured."
    ends = found.compared[0]
    if all(each.standing is Standing.SAME for each in found.compared):
        return (
            f"No release changed the time by {matters} or more: {ends.older} and {ends.newer} are the same to within "
            f"{matters} ({_amount(ends).replace(' (', ', ', 1)}."
        )
    if ends.standing is Standing.SAME:
        return f"{ends.older} and {ends.newer} are the same to within {matters}: {_amount(ends)}."
    return (
        f"Inconclusive: these pairs do not tell whether {ends.older} and {ends.newer} differ by {matters}. So far: "
        f"{_amount(ends)}."
    )


def _compared(found: HistoryFindings) -> Iterator[str]:
    """Pairs without a change, by their standing, and by what they are judged."""
    for standing, told in (
        (Standing.SAME, f"The same to within {found.matters_pct:g} %"),
        (Standing.OPEN, "Not decided"),
    ):
        pairs = [each for each in found.compared if each.standing is standing]
        if pairs:
            more = f", and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
            shown = [f"{each.older} → {each.newer} {_amount(each)}" for each in pairs[:_SHOWN]]
            yield f"{told}: {', '.join(shown)}{more}."
    yield (
        f"Intervals hold at {level(1 - found.alpha)} for all {counted(found.comparisons, 'pair')} of releases that may "
        f"be compared, however often one looks; {counted(found.least_pairs, 'pair')} of trials are the fewest that "
        "show a difference. A change is told where its whole interval is more than "
        f"{found.matters_pct:g} %."
    )


def _release_table(releases: Sequence[ReleaseResult], unit: str) -> Iterator[str]:
    measured = [each for each in releases if each.trials]
    width = max((len(each.name) for each in measured), default=0)
    for each in measured:
        median = quantity(
            None if each.median_in_unit is None or math.isinf(each.median_in_unit) else each.median_in_unit, unit
        )
        more = f"  {each.subject}" if each.subject else ""
        yield f"  {each.name:{width}}  {each.date or '–':10}  median {median} of {counted(each.trials, 'trial')}{more}"
