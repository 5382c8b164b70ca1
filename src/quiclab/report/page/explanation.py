# SPDX-License-Identifier: Apache-2.0
"""Reasons why the arms differ, on the page: a sentence for each cell, and its waterfall of reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from markupsafe import Markup, escape

from quiclab.compare import comparison_words
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.model.errors import QuiclabError
from quiclab.report import figures
from quiclab.report.figures.reasons import Reasons, steps_of
from quiclab.report.page.column_packing import packed
from quiclab.report.page.pair_figures import Drawn
from quiclab.report.page.pairs import Cell
from quiclab.report.words import account
from quiclab.report.words.cause_lines import PARTED_BY_CAUSE, UNPROVEN, sentence
from quiclab.report.words.headline import clauses, headline
from quiclab.why.account import MetricScope, Why
from quiclab.why.accounts import Waterfall, waterfalls
from quiclab.why.causes import Verdict, verdicts


@dataclass(frozen=True)
class CellReasons:
    """One cell's reasons."""

    place: str
    sentences: tuple[Markup, ...]
    """Each number leads to the page of the median trials, where its reason stands."""
    verdicts: tuple[Markup, ...]
    """Verdicts on the causes, the largest first."""
    spec: Mapping[str, object]
    """The waterfall."""


@dataclass(frozen=True)
class Because:
    """The reasons of all cells that have an account."""

    cells: tuple[CellReasons, ...]
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
    try:
        opened = OpenedStudy(study.directory)
        found = waterfalls(opened, analysis.comparisons, analysis.alpha, analysis.metric.name)
        judged = verdicts(opened, found, analysis.alpha)
    except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
        return None
    with_pairs = [each for each in found if each.pairs]
    if not with_pairs:
        return None
    cells, rows = [], []
    for each, causes in zip(found, judged, strict=True):
        if not each.pairs:
            continue
        place = comparison_words.cell_name(each.comparison, analysis)
        steps = pl.DataFrame(steps_of(each, place, analysis.alpha))
        cells.append(_cell(each, causes, place, steps, analysis.alpha, _illustrated(each, pages, shown)))
        rows.append(steps)
    pl.concat(rows, how="vertical_relaxed").write_csv(data / "reasons.csv")
    without = sum(each.without for each in found)
    lacking = " ".join(
        (
            *([f"{number_text.counted(without, 'pair')} have no account of their time."] if without else ()),
            *opened.incomplete_accounts,
        )
    )
    limits = " ".join(
        filter(
            None,
            (
                account.single_look_note(analysis),
                account.limits(with_pairs, analysis.alpha),
                f"{PARTED_BY_CAUSE}. {UNPROVEN}" if any(each.verdicts for each in cells) else "",
            ),
        )
    )
    return Because(tuple(cells), limits, lacking)


def _cell(
    waterfall: Waterfall,
    causes: Sequence[Verdict],
    place: str,
    steps: pl.DataFrame,
    alpha: float,
    file: str | None,
) -> CellReasons:
    first = headline(waterfall, causes, alpha)
    # Names of arms stay as they are: they may begin with a small letter.
    first = first[0].upper() + first[1:] if first.startswith("the ") else first
    told = filter(None, (first, account.parting(waterfall, alpha)))
    spec = packed(figures.spec(Reasons().draw(steps)))
    if file is not None:
        spec["layout"]["meta"] = bar_links(waterfall, file)
    parts = clauses(waterfall, causes, alpha)
    judged = tuple(linked(sentence(each, waterfall), [], file) for each in causes)
    return CellReasons(place, tuple(linked(each, parts, file) for each in told), judged, spec)


def _illustrated(waterfall: Waterfall, pages: Sequence[Cell], shown: Mapping[str, Sequence[Drawn]]) -> str | None:
    """The page of the cell's median trials; None where it has no timeline."""
    of_cell = (cell for cell in pages if cell.cell_id == waterfall.comparison.cell_id)
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


def linked(sentence: str, clauses: Sequence[tuple[str, Why]], file: str | None) -> Markup:
    """A sentence in which each number with a unit leads to the page `file`: to its reason where it stands in a clause
    of one, else to the timeline. Without a page it has no links."""
    if file is None:
        return escape(sentence)
    found = [(sentence.find(clause), clause, why) for clause, why in clauses]
    spans = [(begin, begin + len(clause), place_of(why)) for begin, clause, why in found if begin >= 0]
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
