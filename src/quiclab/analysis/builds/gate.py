# SPDX-License-Identifier: Apache-2.0
"""A gate for a change: the bound that a metric may not go beyond, and what the trials say about it.

The rule. A cell fails where (1) its change is significant after correction over everything that was asked for, and
(2) the end of its Hodges–Lehmann interval that is nearer to no change lies beyond the bound. The estimate alone never
fails a cell: with `> +3%`, an estimate of +5 % whose interval runs from +1 % to +9 % passes.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from quiclab import wording
from quiclab.analysis.builds.change import Change
from quiclab.analysis.model import Metric, Outcome
from quiclab.errors import SpecError
from quiclab.statistics import Interval
from quiclab.units import Bitrate, ByteCount, Duration

GRAMMAR = "write METRIC > +NUMBER or METRIC < -NUMBER, with % or a unit: 'ttlb > +3%', 'setup > +5ms', 'goodput < -2%'"

_BOUND = re.compile(r"\s*([A-Za-z]\w*)\s*([<>])\s*([+-])\s*(\d+(?:\.\d+)?)\s*(%|[A-Za-zµ][A-Za-zµ/]*|)\s*")
"""The grammar of a bound: metric, comparison, sign, number, and a unit if there is one."""


class Verdict(enum.StrEnum):
    """Verdict on one cell by one bound."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Bound:
    """A limit that a change must not exceed significantly."""

    text: str
    """The whole bound as the user wrote it: `ttlb > +3%`."""
    metric: str
    """The metric's name as the user wrote it: `ttlb` or `ttlb_ms`."""
    above: bool
    """Whether growth beyond the bound fails, else a fall beyond it."""
    amount: str
    """Sign and digits."""
    unit: str


@dataclass(frozen=True)
class Judgement:
    """One cell against one bound."""

    bound: Bound
    change: Change
    verdict: Verdict
    reason: str
    """A sentence."""
    open_ended: bool = False
    """Passed, though the interval reaches beyond the bound."""


def parse_bound(text: str) -> Bound:
    """`ttlb > +3%`. Raises SpecError with the grammar for anything else."""
    match = _BOUND.fullmatch(text)
    if match is None:
        raise SpecError(f"{text!r} is not a bound", GRAMMAR)
    name, comparison, sign, digits, unit = match.groups()
    if (comparison == ">") != (sign == "+"):
        raise SpecError(f"{text!r} points the wrong way: > needs an increase (+), < a decrease (-)", GRAMMAR)
    return Bound(text.strip(), name, comparison == ">", sign + digits, unit)


def limit_of(bound: Bound, metric: Metric) -> float:
    """The bound in per cent, or in the metric's unit. Raises SpecError where the unit is not of this metric."""
    text = f"{bound.amount} {bound.unit}".strip()
    try:
        if bound.unit == "%":
            return float(bound.amount)
        if metric.unit in {"ms", "us"}:
            return Duration.parse(text).ns / {"ms": 1e6, "us": 1e3}[metric.unit]
        if metric.unit == "bit/s":
            return float(Bitrate.parse(text).bit_per_s)
        if metric.unit == "bytes":
            return float(ByteCount.parse(text).bytes)
    except ValueError as error:
        raise SpecError(f"the bound {bound.text!r} does not suit {metric.name}: {error}", GRAMMAR) from error
    if bound.unit not in {"", metric.unit} or metric.unit == "%":
        raise SpecError(
            f"the bound {bound.text!r} does not suit {metric.name}, which is in {metric.unit or 'no unit'}",
            "write it in %",
        )
    return float(bound.amount)


def judge(bounds: Iterable[tuple[Bound, str]], changes: Iterable[Change]) -> tuple[Judgement, ...]:
    """Every change of a bound's metric against it; each bound with the name of its metric."""
    listed = tuple(changes)
    return tuple(_judge(bound, each) for bound, metric in bounds for each in listed if each.metric.name == metric)


def _judge(bound: Bound, found: Change) -> Judgement:
    limit = limit_of(bound, found.metric)
    interval = found.interval_pct if bound.unit == "%" else found.interval
    if found.outcome in (Outcome.UNDECIDED, Outcome.NOT_MEASURED) and not found.corrected_out:
        return Judgement(bound, found, Verdict.NOT_JUDGED, found.why)
    if interval is None:
        return Judgement(bound, found, Verdict.NOT_JUDGED, _no_interval(found))
    near, far = (interval.low, interval.high) if bound.above else (interval.high, interval.low)
    told = _text(interval, bound, found.metric)
    if found.outcome.significant and _beyond(near, limit, bound):
        return Judgement(
            bound, found, Verdict.FAILED, f"Changed by {told}: all of it is beyond {bound.amount}{bound.unit}."
        )
    if _beyond(far, limit, bound) and found.corrected_out:
        return Judgement(bound, found, Verdict.NOT_JUDGED, found.why)
    if _beyond(far, limit, bound):
        return Judgement(bound, found, Verdict.PASSED, f"Changed by {told}: more than the bound is not excluded.", True)
    return Judgement(bound, found, Verdict.PASSED, f"Changed by {told}: within the bound.")


def _beyond(value: float, limit: float, bound: Bound) -> bool:
    return value > limit if bound.above else value < limit


def _no_interval(found: Change) -> str:
    if found.interval is None:
        return "There are too few trials for an interval."
    return "OLD's median is zero, or infinite because of failures, so it has no percentage: use a bound with a unit."


def _text(interval: Interval, bound: Bound, metric: Metric) -> str:
    if bound.unit == "%":
        return f"{wording.interval_text(interval)} %"
    return f"{wording.quantity(interval.low, metric.unit)} … {wording.quantity(interval.high, metric.unit)}"


def exit_verdict(judgements: Collection[Judgement]) -> Verdict:
    """Return the verdict of the whole gate: failed by any cell, and not judged where no cell could be."""
    verdicts = {each.verdict for each in judgements}
    if Verdict.FAILED in verdicts:
        return Verdict.FAILED
    return Verdict.PASSED if Verdict.PASSED in verdicts else Verdict.NOT_JUDGED
