# SPDX-License-Identifier: Apache-2.0
"""How numbers and answers are put into words, the same in the terminal and on the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from quiclab.analysis.model import ArmResult, Comparison, Metric, Outcome, StudyAnalysis
from quiclab.statistics import Interval, smallest_p


def number(value: float) -> str:
    """Three significant digits, never in exponent form below a million: 0.0841, 12.3, 4310."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    value = float(f"{value:.3g}") if abs(value) < 1000 else value
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}".replace("-", "−").replace(",", "\u2009")


def count(value: float) -> str:
    """A number of things, whole where it is: 7, 7.5, 12 345."""
    return f"{value:,.{0 if value == int(value) else 1}f}".replace(",", "\u2009")


def quantity(value: float | None, unit: str) -> str:
    """A value with a unit that suits its size; "–" where it is unknown, "failed" where failures own it."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "failed"
    if unit == "ms" and abs(value) >= 1000:
        return f"{value / 1000:.2f} s".replace("-", "−")
    if unit == "bit/s" and abs(value) >= 1e6:
        return f"{number(value / 1e6)} Mbit/s"
    return f"{number(value)} {unit}".rstrip()


def size(size_bytes: int) -> str:
    """Of a file: `812 B`, `3.1 kB`, `42 MB`."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes} B"


def percent(value: float | None, signed: bool = True) -> str:
    """`+12.3 %`, with a true minus sign; "" where there is none."""
    if value is None:
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:+.1f} %".replace("-", "−") if signed else f"{value:.1f} %"


def interval_text(interval: Interval | None, nominal: float | None = None) -> str:
    """`−2.1 … +3.4`, in the unit of the number beside it; with its level where that is not the `nominal` one."""
    if interval is None:
        return ""
    told = "" if nominal is None else level_text(interval, nominal)
    return f"{_bound(interval.low)} … {_bound(interval.high)}{told}"


def within_pairs(comparison: Comparison, analysis: StudyAnalysis) -> str:
    """What `shift_pct` and its interval are of: the controls of a sequential study have a fixed number of pairs."""
    return "median within pairs" if analysis.sequential and comparison.kind == "main" else "shift within pairs"


def shift_interval(comparison: Comparison, nominal: float) -> str:
    """Of a comparison; where it has too few pairs for an interval at this level, what level they attain at most."""
    attained = 1 - smallest_p(comparison.pairs)
    if comparison.interval_pct is None and 0 < attained < nominal:
        return f"none (at most {level(attained)})"
    return interval_text(comparison.interval_pct, nominal)


def level_text(interval: Interval, nominal: float) -> str:
    """` (at 75 %)` where an interval misses at another rate than the one that was asked for, by more than a tenth of
    it: few values can attain few levels."""
    missed, asked = 1 - interval.confidence, 1 - nominal
    unbounded = math.isinf(interval.low) and math.isinf(interval.high)
    return "" if unbounded or abs(missed - asked) <= asked / 10 else f" (at {level(interval.confidence)})"


def level(confidence: float) -> str:
    """`95 %`, `96.1 %`; never all where something is left."""
    rounded = round(100 * confidence, 1)
    return ">99.9 %" if rounded == 100 and confidence < 1 else f"{rounded:g} %"


def _bound(value: float) -> str:
    return percent(value).removesuffix(" %")


def p_text(p: float | None) -> str:
    """Two digits that count; blank where there is none."""
    if p is None:
        return ""
    if p < 0.0001:
        return "<.0001"
    return f"{p:.4f}".lstrip("0") if p < 0.01 else (f"{p:.3f}".lstrip("0") if p < 0.9995 else "1")


def faster(metric: Metric) -> str:
    """The word for better: times are faster, other quantities better."""
    return "faster" if metric.unit in {"ms", "us", "s"} else "better"


def winner(comparison: Comparison) -> str:
    """Name of the better arm; "" where there is none."""
    if comparison.outcome is Outcome.OTHER_BETTER:
        return comparison.other.arm
    return comparison.baseline.arm if comparison.outcome is Outcome.BASELINE_BETTER else ""


def difference_text(comparison: Comparison) -> str:
    """What stands in the cell: the difference if it is significant, else nothing, or why there is no answer."""
    if comparison.outcome.significant:
        return percent(comparison.difference_pct) or f"{_failing(comparison)} fails"
    return {Outcome.UNDECIDED: "undecided", Outcome.NOT_MEASURED: "no data"}.get(comparison.outcome, "")


def _failing(comparison: Comparison) -> str:
    worse = comparison.baseline if winner(comparison) == comparison.other.arm else comparison.other
    return worse.arm


def sign_convention(analysis: StudyAnalysis) -> str:
    """What positive and negative, red and blue mean, for the study's arms."""
    arms = " or ".join(dict.fromkeys(c.other.arm for c in analysis.comparisons)) or "the other arm"
    baseline = analysis.comparisons[0].baseline.arm if analysis.comparisons else "the baseline"
    word = faster(analysis.metric)
    return f"Positive, red: {arms} is {word}. Negative, blue: {baseline} is {word}."


def counted(number: int, thing: str) -> str:
    """`1 pair`, `2 pairs`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def listed(items: Sequence[str]) -> str:
    """`a, b and c`."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1] if items else ""


def place(comparison: Comparison, analysis: StudyAnalysis) -> str:
    """The cell by the names that the figures use: `1 % loss, 5 MB`."""
    path = analysis.path_titles.get(comparison.path, comparison.path)
    return f"{path}, {analysis.workload_titles.get(comparison.workload, comparison.workload)}"


def whys(analysis: StudyAnalysis) -> list[str]:
    """Why cells have no answer, the cells of one reason together."""
    places: dict[str, list[str]] = {}
    for comparison in analysis.comparisons:
        if comparison.why:
            places.setdefault(comparison.why, []).append(place(comparison, analysis))
    every = len(analysis.comparisons)
    return [f"{why} ({'every cell' if len(at) == every > 1 else '; '.join(at)})" for why, at in places.items()]


def trouble(arm: ArmResult) -> str:
    """Failures, unproven, void and damaged trials and unknown values of an arm in a cell; "" where there is none."""
    counts = (
        (arm.failures, "failed"),
        (arm.unproven, "unproven"),
        (arm.voids, "void"),
        (arm.damaged, "damaged"),
        (arm.unmeasured, "unmeasured"),
    )
    return ", ".join(f"{count} {word}" for count, word in counts if count)
