# SPDX-License-Identifier: Apache-2.0
"""Reasons why the arms differ, on the page: a sentence for each cell beside a bar per arm, and its waterfall of
reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from markupsafe import Markup, escape

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.report import figures
from quiclab.report.figures.reasons import Reasons, steps_of
from quiclab.report.page.arm_bars import ArmBar, LegendEntry, arm_bars, legend
from quiclab.report.page.column_packing import packed
from quiclab.report.page.pair_figures import Drawn
from quiclab.report.page.pairs import Cell
from quiclab.report.words import account
from quiclab.report.words.explanation_text import (
    PARTED_BY_CAUSE,
    UNPROVEN,
    clause,
    compared_in,
    further,
    lead,
    parting,
    sentence,
)
from quiclab.why.account import MetricScope, Why
from quiclab.why.accounts import Waterfall
from quiclab.why.explanation import DifferencePart, Explanation, readable_explanations

MOST_UNFOLDED = 6
"""Cells whose causes are shown at once: more are a scroll, and no answer."""


@dataclass(frozen=True)
class Judged:
    """The verdict on one cause."""

    sentence: Markup
    decided_by: str
    """Tables that decided it, as a list in a sentence."""


@dataclass(frozen=True)
class CellReasons:
    """One cell's reasons."""

    place: str
    lead: Markup
    """The difference with its causes. Each number leads to the page of the median trials, where its reason stands."""
    bars: tuple[ArmBar, ...]
    """Mean time of each arm by its waits."""
    further: tuple[Markup, ...]
    """Further sentences about the difference."""
    verdicts: tuple[Judged, ...]
    """Verdicts on the causes, the largest first."""
    spec: Mapping[str, object]
    """The waterfall."""


@dataclass(frozen=True)
class Because:
    """The reasons of all cells that have an account."""

    cells: tuple[CellReasons, ...]
    """Cells that are shown at once."""
    further: tuple[CellReasons, ...]
    """Other cells that are judged."""
    every: tuple[CellReasons, ...]
    """All of them, and those that are not judged."""
    legend: tuple[LegendEntry, ...]
    """Waits that can be seen in the bars."""
    pairs: str
    """Pairs that the means are of: `6 to 7 pairs`."""
    not_judged: str
    """Cells that are not judged, as a list in a sentence; "" where there is none."""
    limits: str
    """Scope and limits of the numbers."""
    lacking: str
    """Part of the study that has no account; empty where all has."""


def because(
    study: Study, analysis: StudyAnalysis, data: Path, pages: Sequence[Cell], shown: Mapping[str, Sequence[Drawn]]
) -> Because | None:
    """The reasons, and `reasons.csv` with their numbers in `data`; None where no cell has an account of its metric.

    `shown` has the figures on each page of a pair, by its file.
    """
    if analysis.metric.name not in {of.metric for of in MetricScope}:
        return None
    found = readable_explanations(study.directory, analysis) or ()
    explained = [each for each in found if each.waterfall.pairs]
    if not explained:
        return None
    rows = [pl.DataFrame(steps_of(each.waterfall, each.cell_name, each.alpha)) for each in explained]
    pl.concat(rows, how="vertical_relaxed").write_csv(data / "reasons.csv")
    without = sum(each.waterfall.without for each in found)
    lacking = [f"{number_text.counted(without, 'pair')} have no account of their time."] if without else []
    proven = [f"{PARTED_BY_CAUSE}. {UNPROVEN}"] if any(each.causes for each in explained) else []
    judged = [each for each in explained if each.judged]
    unfolded = _unfolded(judged)
    cells = {
        each.comparison: _cell(
            each, compared_in(each, analysis), steps, _illustrated(each.comparison.cell_id, pages, shown)
        )
        for each, steps in zip(explained, rows, strict=True)
    }
    return Because(
        tuple(cells[each.comparison] for each in judged if each in unfolded),
        tuple(cells[each.comparison] for each in judged if each not in unfolded),
        tuple(cells.values()),
        legend(each.waterfall for each in judged),
        account.pairs_of(judged or explained),
        number_text.listed([compared_in(each, analysis) for each in explained if not each.judged]),
        " ".join(filter(None, (account.single_look_note(analysis), account.limits(explained), *proven))),
        " ".join((*lacking, *OpenedStudy(study.directory).incomplete_accounts)),
    )


def _unfolded(judged: Sequence[Explanation]) -> list[Explanation]:
    """The cells with the largest differences that were found, else the first ones."""
    found = [each for each in judged if each.comparison.conclusion.found]
    by_size = sorted(found, key=lambda each: -abs(each.comparison.difference_pct or 0))
    return (by_size or list(judged))[:MOST_UNFOLDED]


def _cell(explanation: Explanation, place: str, steps: pl.DataFrame, file: str | None) -> CellReasons:
    first = lead(explanation)
    # Names of arms stay as they are: they may begin with a small letter.
    first = first[0].upper() + first[1:] if first.startswith("the ") else first
    spec = packed(figures.spec(Reasons().draw(steps)))
    if file is not None:
        spec["layout"]["meta"] = bar_links(explanation.waterfall, file)
    more = filter(None, (further(explanation), parting(explanation)))
    return CellReasons(
        place,
        linked(first, explanation.parts, file),
        arm_bars(explanation.waterfall),
        tuple(linked(each, explanation.parts, file) for each in more),
        tuple(
            Judged(linked(sentence(each, explanation, evidence=False), (), file), number_text.listed(each.evidence))
            for each in explanation.causes
        ),
        spec,
    )


def _illustrated(cell_id: str, pages: Sequence[Cell], shown: Mapping[str, Sequence[Drawn]]) -> str | None:
    """The page of the cell's median trials; None where it has no timeline."""
    of_cell = (cell for cell in pages if cell.cell_id == cell_id)
    median = next((pair.file for cell in of_cell for pair in cell.pairs if pair.block is None), None)
    names = [drawn.name for drawn in shown.get(median or "", ())]
    return median if "timeline" in names else None


# Links from the numbers of a reason to the pair that illustrates it: the median trials of its cell.
TIMELINE = "figure-timeline"
"""Place of the timeline on the page of a pair."""
_NUMBER = re.compile(r"[+−]?\d[\d.,]*(?: … [+−]?\d[\d.,]*)?[ \u00a0\u202f]?(?:ms|s|µs|MB|kB)\b")


def place_of(why: Why) -> str:
    """Place of a reason on the page of a pair."""
    return f"why-{why}"


def linked(sentence: str, named: Sequence[DifferencePart], file: str | None) -> Markup:
    """A sentence in which each number with a unit leads to the page `file`: to the wait of the part in whose clause it
    stands, else to the timeline. Without a page it has no links."""
    if file is None:
        return escape(sentence)
    found = [(sentence.find(clause(part)), len(clause(part)), part.why) for part in named]
    spans = [(begin, begin + length, place_of(why)) for begin, length, why in found if begin >= 0]
    parts: list[Markup] = []
    end = 0
    for number in _NUMBER.finditer(sentence):
        place = next((where for begin, until, where in spans if begin <= number.start() < until), TIMELINE)
        parts.append(escape(sentence[end : number.start()]))
        parts.append(Markup('<a href="{}#{}">{}</a>').format(file, place, number[0]))
        end = number.end()
    return Markup("").join([*parts, escape(sentence[end:])])


def bar_links(waterfall: Waterfall, file: str) -> dict[str, object]:
    """Links of a waterfall's bars, for the page's script: the page, and the place of each bar's reason."""
    headings = {step.label.heading: place_of(step.label) for step in waterfall.steps if isinstance(step.label, Why)}
    return {"opens": file, "places": {figures.reason_name(name): place for name, place in headings.items()}}
