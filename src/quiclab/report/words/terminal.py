# SPDX-License-Identifier: Apache-2.0
"""The result as a table in the terminal, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from rich.console import Console
from rich.table import Table
from rich.text import Text

from quiclab.compare import comparison_words
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Outcome, StudyAnalysis
from quiclab.model import number_text
from quiclab.model.name_lines import name_lines, whole_words
from quiclab.report.words.answers import answers
from quiclab.report.words.arm_heads import fitting, narrow_heads
from quiclab.report.words.results import ALONE, alone_rows

_STYLES = {Outcome.OTHER_BETTER: "bold dark_orange3", Outcome.BASELINE_BETTER: "bold blue"}
"""Colours of the arm that is better, as on the page."""
_WORDS = {
    Conclusion.SMALL: "small",
    Conclusion.PERHAPS_SMALL: "small?",
    Conclusion.MEDIAN_ALIKE: "median eq.",
    Conclusion.NOT_MEASURED: "no data",
}
"""Conclusions whose own words are too long for a column."""


_NAME_COLUMNS = 18
"""Columns of the names of networks and sizes."""


def render(analysis: StudyAnalysis, console: Console) -> None:
    """Print what was compared (first line), a table for each arm against the baseline, and what limits the result."""
    console.print(Text(analysis.arms_text))
    for other in dict.fromkeys(c.other.arm for c in analysis.comparisons):
        console.print()
        cells = [c for c in analysis.comparisons if c.other.arm == other]
        narrow = partial(_table, analysis, cells, narrow=True)
        console.print(fitting(console.width, _table(analysis, cells, narrow=False), narrow))
    if analysis.alone:
        console.print()
        console.print(fitting(console.width, _alone(analysis), partial(_alone, analysis, _NAME_COLUMNS)))
        console.print()
    if analysis.comparisons:
        console.print(Text(_legend(analysis), style="dim"))
        console.print()
    for answer in answers(analysis):
        console.print(Text(f"{answer.place}: {' '.join(answer.sentences)}"))
    for line in (*_troubles(analysis), *_controls(analysis), *analysis.notes):
        console.print(Text(line))


def _table(analysis: StudyAnalysis, cells: list[Comparison], *, narrow: bool) -> Table:
    arms, told = (cells[0].baseline.arm, cells[0].other.arm), ""
    if narrow:
        arms, told = narrow_heads(*arms)
    title = Text("\n".join(filter(None, (analysis.metric.title, told))))
    table = Table(box=None, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold")
    table.add_column("", max_width=_NAME_COLUMNS)
    better = f"{comparison_words.better_sign(analysis.metric)} {comparison_words.faster(analysis.metric)}"
    difference = f"difference\n{better}"  # no wider than its numbers
    for heading in (*arms, difference, "interval, %", "p", "pairs"):
        table.add_column(Text(heading), justify="right", no_wrap=True, overflow="fold")
    table.add_column("")
    for path in analysis.paths:
        table.add_row(Text(whole_words(analysis.path_titles[path], _NAME_COLUMNS), style="bold"))
        for cell in (c for c in cells if c.path == path):
            size = whole_words(analysis.workload_titles[cell.workload], _NAME_COLUMNS - 2)
            table.add_row(Text("\n".join(f"  {line}" for line in size.split("\n"))), *_numbers(cell, analysis))
    return table


def _alone(analysis: StudyAnalysis, names: int | None = None) -> Table:
    """Numbers of a single arm, the names of networks and sizes in lines of at most so many characters."""
    title = f"{analysis.metric.title} of {analysis.alone[0].arm.arm}"
    table = Table(box=None, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold")
    for place, heading in enumerate(ALONE):
        table.add_column(heading, justify="left" if place < 2 else "right", overflow="fold")
    for row in alone_rows(analysis):
        table.add_row(*(Text(text if names is None or place > 1 else name_lines(text, names))
                        for place, text in enumerate(row)))  # fmt: skip
    return table


def _numbers(cell: Comparison, analysis: StudyAnalysis) -> Iterable[Text]:
    unit, conclusion = analysis.metric.unit, cell.conclusion
    matters = conclusion in (Conclusion.DIFFERENT, Conclusion.PERHAPS_SMALL)
    interval = number_text.interval_text(cell.interval_pct)
    if cell.interval is not None:
        interval = comparison_words.estimate_interval(cell, analysis.metric, cell.interval.confidence)
    yield Text(number_text.quantity(cell.baseline.median, unit))
    yield Text(number_text.quantity(cell.other.median, unit))
    yield Text(
        comparison_words.estimate_text(cell, analysis.metric),
        style=_STYLES.get(cell.outcome, "") if matters else "" if conclusion.found else "dim",
    )
    yield Text(interval, style="dim")
    yield Text(number_text.p_text(cell.adjusted_p))
    yield Text(str(cell.pairs))
    undecided = conclusion in (Conclusion.UNDECIDED, Conclusion.NOT_JUDGED, Conclusion.NOT_MEASURED)
    yield Text(_word(conclusion), style="yellow" if undecided else "")


def _word(conclusion: Conclusion) -> str:
    """The conclusion in a column."""
    return _WORDS.get(conclusion, conclusion.text)


def _legend(analysis: StudyAnalysis) -> str:
    """Meaning of the columns, signs and words of the tables."""
    said = {comparison.conclusion for comparison in analysis.comparisons}
    matters, word = f"{analysis.matters_pct:g} %", comparison_words.faster(analysis.metric)
    baselines = list(dict.fromkeys(analysis.baselines.values()))
    others = " or ".join(analysis.baselines)
    one = len(baselines) == 1
    baseline = baselines[0] if one else "its baseline"
    compared = f"{others} against {baseline}" if one else comparison_words.arms_compared(analysis.baselines)
    meanings = (
        (f"different, but by less than {matters}", Conclusion.SMALL),
        (f"different, perhaps by less than {matters}", Conclusion.PERHAPS_SMALL),
        (f"no difference of {matters} or more, of the slowest trials (p90) either", Conclusion.ALIKE),
        (
            f"medians are equivalent to within {matters}; the slowest trials (p90) may still differ",
            Conclusion.MEDIAN_ALIKE,
        ),
        (f"these trials cannot tell whether the arms differ by {matters}", Conclusion.UNDECIDED),
        ("this machine disturbed the trials by too much to tell, see below", Conclusion.NOT_JUDGED),
    )
    told = "".join(f" {_word(each)}: {meaning}." for meaning, each in meanings if each in said)
    return (
        f"Columns of arms: medians. difference: {compared} in the typical pair, "
        f"{comparison_words.better_sign(analysis.metric)} is {word}; "
        f"orange: {others} is {word}, blue: {baseline} is {word}. p: {analysis.decided_by}. different: p is at most "
        f"{analysis.alpha:g}.{told} {comparison_words.interval_levels(analysis)}"
    )


def _troubles(analysis: StudyAnalysis) -> list[str]:
    """One line for each arm of a cell with failures or unknown values, and one for all repeats, or one that says there
    are none."""
    arms: dict[tuple[str, str], tuple[str, ArmResult]] = {}
    for cell_id, cell in analysis.cells(controls=True).items():
        place = ("A/A, " if cell.place.kind == "aa" else "") + comparison_words.cell_name(cell.place, analysis)
        arms |= {(cell_id, arm.arm): (place, arm) for arm in cell.arms}
    lines = [
        f"{place}, {arm.arm}: {found} of {arm.attempts} attempts."
        for place, arm in arms.values()
        if (found := comparison_words.trouble(replace(arm, voids=0)))
    ]
    lines += _repeats([*arms.values()])
    return [*(lines or ["No trial failed and none was repeated."]), *comparison_words.whys(analysis)]


def _repeats(arms: Sequence[tuple[str, ArmResult]]) -> list[str]:
    """Say how many attempts were disturbed, and where the greatest share was. The last of a block is not repeated."""
    voids, attempts = (sum(getattr(arm, name) for _, arm in arms) for name in ("voids", "attempts"))
    if not voids:
        return []
    place, worst = max(arms, key=lambda each: each[1].voids / max(1, each[1].attempts))
    most = f"{place}, {worst.arm}: {worst.voids} of {worst.attempts}"
    return [f"{voids} of {attempts} attempts were disturbed and do not count; most of {most}."]


def _controls(analysis: StudyAnalysis) -> list[str]:
    lines = []
    for control in analysis.controls:
        arm = control.baseline.arm.partition("#")[0]
        of = control.interval_pct or control.interval
        level = number_text.level(of.confidence) if of else ""
        interval = comparison_words.estimate_interval(control, analysis.metric, of.confidence) if of else ""
        shown = f" ({level} interval {interval})" if interval else ""
        lines.append(
            f"A/A, {arm} against itself ({comparison_words.cell_name(control, analysis)}): "
            f"difference within pairs {comparison_words.estimate_text(control, analysis.metric) or 'unknown'}{shown}, "
            f"{number_text.counted(control.pairs, 'pair')}."
        )
    return lines
