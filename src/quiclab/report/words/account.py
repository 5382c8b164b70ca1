# SPDX-License-Identifier: Apache-2.0
"""Sentences and tables about why two arms' times to the last byte differ."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from quiclab.compare.model import Comparison, StudyAnalysis
from quiclab.model import number_text
from quiclab.model.name_lines import name_lines
from quiclab.report.words.arm_heads import NUMBER_COLUMNS, narrow_heads, natural_width
from quiclab.why.account import MetricScope
from quiclab.why.accounts import LEAST_MOVED_PCT, Step, Waterfall
from quiclab.why.explanation import Explanation

_NARROW_LABEL = 30
"""Columns of a reason in a table that has to be narrow."""


def longer(difference_ms: float) -> str:
    """Return a difference without its sign: `12 ms longer`, `12 ms less`."""
    return f"{time_text(abs(difference_ms))} {'longer' if difference_ms > 0 else 'less'}"


def time_text(value: float) -> str:
    """Return a time with its unit: `12 ms`, `1.21 s`."""
    return number_text.quantity(value, "ms")


def account_table(waterfall: Waterfall, alpha: float, width: int | None = None) -> Table:
    """Return one row for each reason and one for their sum: means of both arms in ms, difference, interval, p, and the
    tables that decided it; within a width, these stand below the reason where they have no place beside it."""
    narrow = width is not None and natural_width(account_table(waterfall, alpha)) > width
    table = _table(waterfall, "why: mean, ms", narrow=narrow)
    if not narrow:
        table.add_column("decided by")
    for step in (*waterfall.steps, waterfall.total):
        heading, *rest = _cells(step, alpha, waterfall.of)
        decided = Text(_decided_by(step, waterfall.comparison), style="dim")
        if narrow and decided.plain:
            heading = Text("\n  ").join((heading, decided))
        table.add_row(heading, *rest, *(() if narrow else (decided,)))
    return table


def floor_table(waterfall: Waterfall, alpha: float, width: int | None = None) -> Table:
    """Return one row for each thing that passes the time, those of less than 0.05 ms in both arms left out."""
    narrow = width is not None and natural_width(floor_table(waterfall, alpha)) > width
    table = _table(waterfall, "what: mean, ms", narrow=narrow)
    for step in waterfall.floor:
        if max(step.baseline_ms, step.other_ms) >= 0.05:
            table.add_row(*_cells(step, alpha, waterfall.of))
    return table


def _table(waterfall: Waterfall, title: str, *, narrow: bool) -> Table:
    base, other = waterfall.comparison.baseline.arm, waterfall.comparison.other.arm
    table = Table(box=None, padding=(0, 1, 0, 0), title_justify="left")
    table.add_column(title, width=_NARROW_LABEL if narrow else None, no_wrap=not narrow)
    arms, difference = (base, other), f"{other} − {base}\n− is faster"
    if narrow:
        arms, told = narrow_heads(base, other)
        table.title = Text(told, style="dim") if told else None
        difference = f"difference\n{name_lines('− is faster', NUMBER_COLUMNS)}"
    for heading in (*arms, difference, "interval", "p"):
        table.add_column(Text(heading), justify="right", no_wrap=not (narrow and heading == "interval"))
    return table


def _cells(step: Step, alpha: float, of: MetricScope) -> list[Text]:
    heading = step.label.heading if step.label else of.heading
    strong = "bold" if step.label is None or step.differs(alpha) else ""
    return [
        Text(heading, style=strong),
        *(Text(decimal(each)) for each in (step.baseline_ms, step.other_ms)),
        Text(decimal(step.difference_ms, signed=True), style=strong),
        Text(_ends(step), style="dim"),
        Text(number_text.p_text(step.adjusted_p), style="dim"),
    ]


def _decided_by(step: Step, comparison: Comparison) -> str:
    """The tables, once where both arms have the same."""
    first, second = ", ".join(step.baseline_decided_by), ", ".join(step.other_decided_by)
    if first == second or not first or not second:
        return first or second
    return f"{comparison.baseline.arm}: {first}; {comparison.other.arm}: {second}"


def _ends(step: Step) -> str:
    if step.interval_ms is None:
        return ""
    interval = step.interval_ms
    return number_text.ends_text(interval.low, interval.high, lambda end: decimal(end, signed=True))


def interval_of(total: Step) -> str:
    """Return the interval of a difference, in the unit in which a sentence has the difference; "" without one."""
    if total.interval_ms is None:
        return ""
    unit, scale, digits = ("s", 1000, 2) if abs(total.difference_ms) >= 1000 else ("ms", 1, 1)
    low, high = total.interval_ms.low / scale, total.interval_ms.high / scale
    return number_text.ends_text(low, high, lambda end: _end(end, digits), f" {unit}")


def _end(end: float, digits: int) -> str:
    """An end of an interval: one that is not 0 does not look like it."""
    if end and round(end, digits) == 0:
        return f"{end:+.1g}".replace("-", "−") if abs(end) >= 1e-4 else ("+0.0" if end > 0 else "−0.0")
    return (f"{end:+.{digits}f}" if end else "0").replace("-", "−")


def decimal(value: float, *, signed: bool = False) -> str:
    """Return a number of a table with one decimal; one that is not told from 0 has no sign."""
    text = f"{value:+.1f}" if signed else f"{value:.1f}"
    return text.replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def left_out(waterfall: Waterfall, reason: str) -> str:
    """Say how many pairs the account lacks, and why the first of them has none."""
    return f"{number_text.counted(waterfall.without, 'pair')} without an account: {reason}."


def other_time_note(metric: str, of: MetricScope, study: str | None) -> str:
    """Say that accounts are of another time than the metric that is compared, and which command shows them, where a
    study's name is given; "" where they are not of another time."""
    if metric == of.metric:
        return ""
    named = "the time to the last byte" if of is MetricScope.TTLB else f"the {of.heading}"
    told = f"The reasons are those of `{of.metric}`, {named}, and not of `{metric}`"
    shown = f" See `quiclab explain {study}`." if study else ""
    if metric == "upload_ms":
        return f"{told}: without the row `answer` they are.{shown}"
    if metric == "ttfb_ms":
        shown = f" See `quiclab explain {study}` for these; in" if study else " In"
        return f"{told}.{shown} Python, `account_of_transfer(evidence, 'ttfb_ms')` has those of one trial."
    return f"{told}.{shown}"


def single_look_note(analysis: StudyAnalysis) -> str:
    """Say that tests of reasons are those of a single look, where the answer allows for several; "" elsewhere."""
    if not analysis.sequential:
        return ""
    return (
        "The answer allows for interim looks; the waits do not: their intervals and p are those of a single look, and "
        "miss more often than they say. Take them as a description, and the verdict from the answer."
    )


def pairs_of(cells: Sequence[Explanation]) -> str:
    """Return the number of pairs that means are of, the least and the most of all cells: `6 to 7 pairs`."""
    pairs = [each.waterfall.pairs for each in cells]
    most = number_text.counted(max(pairs), "pair")
    return f"{min(pairs)} to {most}" if min(pairs) < max(pairs) else most


def limits(cells: Sequence[Explanation]) -> str:
    """Say what intervals and p are of, and what the account does not tell."""
    return (
        f"Means over {pairs_of(cells)}. Bold: significant at a {100 * cells[0].alpha:g} % false-discovery rate, and "
        "the intervals miss no more often (Benjamini–Hochberg over the rows of a table; p is the "
        "larger of the exact signed-rank test's and of the mean's, so that it is small exactly where the interval "
        f"leaves 0 out; a row without p has less than {LEAST_MOVED_PCT:g} % of what moves within "
        "pairs, and is not tested). Reasons, causes and stages of the transfer are each corrected for their own "
        "number, so that one kind may show what another does not. The account says what the packets and the logs show "
        "of each wait."
    )
