# SPDX-License-Identifier: Apache-2.0
"""Two studies compared, as tables in the terminal, readable at 80 columns; the sentences are Markdown's, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from quiclab.compare import comparison_words
from quiclab.compare.builds.change import Change
from quiclab.compare.builds.gate import Judgement, Verdict, exit_verdict
from quiclab.compare.builds.two_studies import StudiesCompared
from quiclab.compare.model import Conclusion, Metric, Outcome
from quiclab.model import number_text
from quiclab.model.name_lines import whole_words

HEADINGS = ("OLD", "NEW", "change, + is more", "interval, %", "p", "trials", "")
_STYLES = {
    "worse": "bold red",
    "better": "bold green",
    Conclusion.UNDECIDED.text: "yellow",
    "no data": "yellow",
    "FAILED": "bold red",
}


def render_change(found: StudiesCompared, judgements: Sequence[Judgement], console: Console) -> None:
    """Print how trials pair up (first line), what differs, a table for each metric, what limits it all, the gate."""
    for line in opening(found):
        console.print(Text(line))
    for metric in found.metrics:
        console.print()
        console.print(_table(found, metric, judgements))
    console.print(Text(legend(found), style="dim"))
    for line in (*remarks(found), *gate_lines(found, judgements)):
        console.print(Text(line))


def opening(found: StudiesCompared) -> list[str]:
    """Lines on what is compared and how, before any number."""
    lines = [found.pairing, f"Study: {found.old}." if found.interleaved else f"OLD is {found.old}, NEW is {found.new}."]
    if found.sequential:
        lines.append(_SEQUENTIAL if found.paired else _UNPAIRED)
    for heading, expected in (("Meant to change", True), ("Differs too, as allowed", False)):
        lines += [f"{heading}: {each}." for each in found.differences if each.expected is expected]
    if not any(each.program or each.expected for each in found.differences):
        lines.append("No record says what changed: every program has the same version and prefix in both.")
    return lines


_SEQUENTIAL = (
    "The number of blocks may follow from a look at the result (see below). So the sequential test decides: it is "
    "right however often one looks, and needs more pairs than the usual test. For the usual test run a new study, with "
    "all of its blocks planned before the first look."
)
_UNPAIRED = (
    "The number of blocks may follow from a look at the result (see below), and trials with different seeds cannot be "
    "tested then: nothing is decided."
)


_NAME_COLUMNS = 24
"""Columns of the names of arms, networks and sizes."""


def _table(found: StudiesCompared, metric: Metric, judgements: Sequence[Judgement]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), title=metric.title, title_justify="left", title_style="bold")
    table.add_column("", max_width=_NAME_COLUMNS, overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading.replace(", +", "\n+"), justify="right", no_wrap=True)
    changes = [each for each in found.changes if each.metric == metric]
    for arm, path in dict.fromkeys((each.arm, each.path) for each in changes):
        table.add_row(Text(whole_words(f"{arm}, {found.path_titles.get(path, path)}", _NAME_COLUMNS), style="bold"))
        for each in (c for c in changes if (c.arm, c.path) == (arm, path)):
            words = (found.workload_titles.get(each.workload, each.workload), *numbers(each, judgements))
            table.add_row(Text(f"  {words[0]}"), *(Text(word, style=_STYLES.get(word, "")) for word in words[1:]))
    return table


def numbers(each: Change, judgements: Iterable[Judgement]) -> tuple[str, ...]:
    """A row under `HEADINGS`."""
    verdict = answer(each, judgements)
    trials = str(each.pairs) if each.pairs is not None else f"{len(each.old.trials)}+{len(each.new.trials)}"
    return (
        number_text.quantity(each.old.median, each.metric.unit),
        number_text.quantity(each.new.median, each.metric.unit),
        (number_text.percent(each.change_pct) or "no ratio") if each.p is not None else "",
        number_text.interval_text(each.interval_pct),
        number_text.p_text(each.adjusted_p),
        trials,
        verdict,
    )


def answer(each: Change, judgements: Iterable[Judgement]) -> str:
    """One word for a row: a failed gate before anything else."""
    if any(j.verdict is Verdict.FAILED for j in judgements if j.change is each):
        return "FAILED"
    if not each.conclusion.found:
        return "no data" if each.conclusion is Conclusion.NOT_MEASURED else each.conclusion.text
    small = {Conclusion.SMALL: ", small", Conclusion.PERHAPS_SMALL: ", small?"}.get(each.conclusion, "")
    return ("worse" if each.outcome is Outcome.BASELINE_BETTER else "better") + small


def legend(found: StudiesCompared) -> str:
    """Meaning of the signs and blanks."""
    tested = sum(not each.refused for each in found.changes)
    levels = sorted({each.confidence for each in found.changes} - {1 - found.alpha})
    told = " to ".join(dict.fromkeys(number_text.level(level) for level in levels[:1] + levels[-1:]))
    selected = f" ({told} where the word says more than inconclusive, after Benjamini and Yekutieli)" if levels else ""
    if found.sequential:
        selected = f" for all {tested} together, at any time" if tested else ""
    matters = f"{found.matters_pct:g} %"
    estimate = "median of its logarithm" if found.sequential and found.paired else "Hodges–Lehmann of its logarithm"
    by = "Bonferroni" if found.sequential else "Benjamini–Hochberg"
    corrected = f", corrected for {number_text.counted(tested, 'comparison')} ({by})" if tested else ""
    return (
        f"Change: typical ratio NEW / OLD{' within pairs' if found.paired else ''} ({estimate}), "
        f"+ where NEW's value is larger. Worse, better: p is at most {found.alpha:g}{corrected}; "
        f"small: by less than {matters}; small?: perhaps. "
        f"Equivalent: no change of {matters} or more; median equivalent: that of the median, the slowest trials (p90) "
        f"may still differ. Interval: of the change, at {number_text.level(1 - found.alpha)}{selected}."
    )


def remarks(found: StudiesCompared) -> list[str]:
    """Failures and voids, cells without an answer, the noise floor, what else may have changed."""
    lines = []
    for each in found.changes:
        for study, arm in (("OLD", each.old), ("NEW", each.new)):
            trouble = comparison_words.trouble(arm)
            if trouble and each.metric == found.metrics[0]:
                lines.append(f"{each.arm}, {found.cell_name(each)}, {study}: {trouble} of {arm.attempts} attempts.")
    lines = lines or ["No trial failed and none was repeated."]
    lines += _whys(found)
    for metric in found.metrics:
        floors = [f for f in found.floors if f.metric == metric]
        told = ", ".join(f"{f.study} {number_text.percent(f.reach_pct, signed=False) or 'unknown'}" for f in floors)
        if not found.interleaved:
            lines.append(f"Noise floor of the {metric.title} (A/A, an arm against itself): {told}.")
        reach = max((f.reach_pct for f in floors if f.reach_pct is not None), default=0.0)
        small = [c for c in found.changes if c.metric == metric and c.outcome.significant]
        small = [c for c in small if c.change_pct is not None and abs(c.change_pct) < reach]
        if small:
            cells = number_text.listed([f"{c.arm} in {found.cell_name(c)}" for c in small])
            lines.append(f"Significant, yet smaller than this floor: {cells}.")
    return [*lines, *_surroundings(found), *found.notes]


def _whys(found: StudiesCompared) -> list[str]:
    """Reasons why cells have no answer, the cells of one reason together."""
    places: dict[str, dict[str, None]] = {}
    for each in found.changes:
        if each.why:
            places.setdefault(each.why, {})[f"{each.arm}, {found.cell_name(each)}"] = None
    every = len({(each.arm, each.workload, each.path) for each in found.changes})
    return [
        comparison_words.placed(why, "every cell" if len(at) == every > 1 else "; ".join(at))
        for why, at in places.items()
    ]


def _surroundings(found: StudiesCompared) -> list[str]:
    """Return a line for each arm that was not meant to change: whether something else did."""
    lines = []
    for arm in dict.fromkeys(each.arm for each in found.controls):
        cells = [each for each in found.controls if each.arm == arm and each.metric == found.metrics[0]]
        moved = [each for each in cells if each.outcome.significant]
        told = f"{arm} ran the same programs in both studies, and differs in {len(moved)} of {len(cells)} cells"
        where = number_text.listed(
            [f"{found.cell_name(c)} ({number_text.percent(c.change_pct) or 'no ratio'})" for c in moved]
        )
        warning = f": {where}. Something other than the build changed: do not trust the other arms until you know what"
        lines.append(f"{told}{warning if moved else ''}.")
    return lines


def gate_lines(found: StudiesCompared, judgements: Sequence[Judgement]) -> list[str]:
    """The gate's answer, each cell that failed or was not judged with its reason, and how often the gate errs."""
    lines = []
    for bound in dict.fromkeys(each.bound for each in judgements):
        mine = [each for each in judgements if each.bound == bound]
        count = {verdict: sum(each.verdict is verdict for each in mine) for verdict in Verdict}
        verdict = exit_verdict(mine)
        others = ", ".join(f"{number} {other}" for other, number in count.items() if number and other is not verdict)
        cells = number_text.counted(len(mine), "cell")
        told = f"{verdict.upper()} {count[verdict]} of {cells}{f' ({others})' if others else ''}"
        lines.append(f"Gate {bound.text}: {told}.")
        lines += [
            f"  {each.change.arm}, {found.cell_name(each.change)}: {each.reason}"
            for each in mine
            if each.verdict is Verdict.FAILED
        ]
        lines += _not_judged(found, mine)
        open_cells = sum(each.open_ended for each in mine)
        if open_cells:
            cells = number_text.counted(open_cells, "passed cell")
            lines.append(f"  In {cells} more than the bound is not excluded: a study of more blocks would tell.")
    return [*lines, *_error_rate(found, judgements)] if judgements else []


def _not_judged(found: StudiesCompared, judgements: Iterable[Judgement]) -> list[str]:
    """Cells without a verdict, those of one reason in one line."""
    places: dict[str, list[str]] = {}
    for each in judgements:
        if each.verdict is Verdict.NOT_JUDGED:
            places.setdefault(each.reason, []).append(f"{each.change.arm}, {found.cell_name(each.change)}")
    return [f"  Not judged: {'; '.join(cells)}: {reason}" for reason, cells in places.items()]


def _error_rate(found: StudiesCompared, judgements: Iterable[Judgement]) -> list[str]:
    """Rate at which such a gate fails a build that it should not, and what that chance leaves out."""
    tested = sum(not each.change.refused for each in judgements)
    if not tested:
        return []
    over = f"for all {tested} cells together" if tested > 1 else "in its one cell"
    looks = ", however often it is looked at" if found.sequential else ""
    chance = f"at most {50 * found.alpha:g} % {over}{looks}"
    lines = [f"Chance that this gate fails a build that stays within its bounds: {chance}."]
    if not found.interleaved:
        lines.append(
            "  What else changed between the two studies is not in that chance, such as the state of the machine: "
            "`quiclab compare --interleave` runs both builds in the same blocks."
        )
    return lines
