# SPDX-License-Identifier: Apache-2.0
"""The result as a table in the terminal, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from quiclab import wording
from quiclab.analysis import comparison_words
from quiclab.analysis.model import Comparison, Outcome, StudyAnalysis
from quiclab.report.words.answers import answers

_STYLES = {
    Outcome.OTHER_BETTER: "bold red",
    Outcome.BASELINE_BETTER: "bold blue",
    Outcome.UNDECIDED: "yellow",
    Outcome.NOT_MEASURED: "yellow",
}


def render(analysis: StudyAnalysis, console: Console) -> None:
    """Print what was compared (first line), a table for each arm against the baseline, and what limits the result."""
    console.print(Text(analysis.arms_text))
    for other in dict.fromkeys(c.other.arm for c in analysis.comparisons):
        console.print()
        console.print(_table(analysis, [c for c in analysis.comparisons if c.other.arm == other]))
    if analysis.comparisons:
        console.print(Text(_legend(analysis), style="dim"))
        console.print()
    for answer in answers(analysis):
        console.print(Text(f"{answer.place}: {' '.join(answer.sentences)}"))
    for line in (*_troubles(analysis), *_controls(analysis), *analysis.notes):
        console.print(Text(line))


def _table(analysis: StudyAnalysis, cells: list[Comparison]) -> Table:
    baseline, other = cells[0].baseline.arm, cells[0].other.arm
    typical = f"{_typical(analysis)}, %"
    table = Table(box=None, padding=(0, 1, 0, 0), title=analysis.metric.title, title_justify="left", title_style="bold")
    table.add_column("", max_width=18)
    for heading in (baseline, other, "diff.", typical, "p adj", "M-W", "Welch", "pairs"):
        table.add_column(heading, justify="right", no_wrap=heading not in (baseline, other), overflow="fold")
    for path in analysis.paths:
        table.add_row(Text(analysis.path_titles[path], style="bold"))
        for cell in (c for c in cells if c.path == path):
            table.add_row(Text("  " + analysis.workload_titles[cell.workload]), *_numbers(cell, analysis))
    return table


def _numbers(cell: Comparison, analysis: StudyAnalysis) -> Iterable[Text]:
    unit = analysis.metric.unit
    yield Text(wording.quantity(cell.baseline.median, unit))
    yield Text(wording.quantity(cell.other.median, unit))
    yield Text(comparison_words.difference_text(cell), style=_STYLES.get(cell.outcome, ""))
    yield Text(wording.interval_text(cell.interval_pct), style="dim")
    for p in (cell.adjusted_p, cell.mann_whitney_p, cell.welch_p):
        yield Text(wording.p_text(p), style="" if p is cell.adjusted_p else "dim")
    yield Text(str(cell.pairs))


def _typical(analysis: StudyAnalysis) -> str:
    """What the intervals are of, in a word that fits above them."""
    return "median" if analysis.sequential else "shift"


def _legend(analysis: StudyAnalysis) -> str:
    levels = [c.interval_pct.confidence for c in analysis.comparisons if c.interval_pct]
    ends = dict.fromkeys(wording.level(each) for each in (min(levels), max(levels))) if levels else ()
    attained = f", at {' to '.join(ends)}" if ends else ""
    return (
        f"{comparison_words.sign_convention(analysis)} "
        f"Blank: not significant at {analysis.alpha:g} ({analysis.decided_by}). "
        f"diff.: of the medians. {_typical(analysis)}: within pairs, the interval of "
        f"{'the same' if analysis.sequential else 'Hodges–Lehmann'}{attained}."
    )


def _troubles(analysis: StudyAnalysis) -> list[str]:
    """One line for each cell with failures, voids or unknown values, or one that says there are none."""
    lines: list[str] = []
    seen: set[tuple[str, str]] = set()
    for cell in analysis.comparisons:
        place = comparison_words.place(cell, analysis)
        for arm in (cell.baseline, cell.other):
            found = comparison_words.trouble(arm)
            if found and (cell.cell_id, arm.arm) not in seen:
                seen.add((cell.cell_id, arm.arm))
                lines.append(f"{place}, {arm.arm}: {found} of {arm.attempts} attempts.")
    return [*(lines or ["No trial failed and none was void."]), *comparison_words.whys(analysis)]


def _controls(analysis: StudyAnalysis) -> list[str]:
    lines = []
    for control in analysis.controls:
        arm = control.baseline.arm.partition("#")[0]
        interval = wording.interval_text(control.interval_pct)
        level = wording.level(control.interval_pct.confidence) if control.interval_pct else ""
        shown = f" ({level} interval {interval} %)" if interval else ""
        lines.append(
            f"A/A, {arm} against itself ({comparison_words.place(control, analysis)}): "
            f"shift within pairs {wording.percent(control.shift_pct) or 'unknown'}{shown}, "
            f"{wording.counted(control.pairs, 'pair')}."
        )
    return lines
