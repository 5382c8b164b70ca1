# SPDX-License-Identifier: Apache-2.0
"""Write a study's report: one HTML page that needs no network, and the data of its figures beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.analyse import analyse, metric_of, page_of, with_notes
from quiclab.compare.cost import cost_data
from quiclab.compare.effects import effects, effects_table, tails, tails_table
from quiclab.compare.factor_effects import factor_tables
from quiclab.compare.false_alarms import false_alarm_table
from quiclab.compare.interim_analyses import remember_look
from quiclab.compare.least_time import least_time_table
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.papers.claims_section import PaperSection, paper_section
from quiclab.compare.path_measured import path_data
from quiclab.compare.program_factors import pair_titles
from quiclab.compare.rows import differences, distributions
from quiclab.compare.sequential import sequential_table
from quiclab.compare.study import Study, read_study
from quiclab.compare.system_calls import read_counts, system_call_data
from quiclab.model import number_text
from quiclab.model.text_table import TextTable
from quiclab.report import figures
from quiclab.report.figures._canvas import Spec
from quiclab.report.page import pair_selector
from quiclab.report.page.column_packing import packed
from quiclab.report.page.explanation import Because, because
from quiclab.report.page.heading import heading
from quiclab.report.page.maps import titled_maps
from quiclab.report.page.median_timeline import MedianTimeline, chosen_cell, median_timeline
from quiclab.report.page.metric_pages import metrics_of_pages
from quiclab.report.page.pair_figures import Drawn
from quiclab.report.page.pair_page import write_pairs
from quiclab.report.page.pair_selector import Selector
from quiclab.report.page.pairs import Cell, cells_of
from quiclab.report.page.rendering import plotly, render
from quiclab.report.page.study_figures import study_figures
from quiclab.report.page.validity import trust_tables
from quiclab.report.words.account import other_time_note
from quiclab.report.words.answers import answers
from quiclab.report.words.cost_table import cost_table
from quiclab.report.words.other_metrics import metric_medians, other_metrics
from quiclab.report.words.remarks import remark_tables
from quiclab.report.words.results import results_table
from quiclab.report.words.system_call_table import system_call_table
from quiclab.store.own_files import read_own
from quiclab.why.account import MetricScope


# The figures that show why arms differ, where the difference is largest.
@dataclass(frozen=True)
class Why:
    """The place to look for reasons, and the figures that show it."""

    place: str
    """Title of the cell."""
    reason: str
    """Reason for the choice of this cell."""
    leads: tuple[tuple[str, str], ...]
    """(question, link to the figure that answers it for the cell's median trials)."""


def why(analysis: StudyAnalysis, cells: Sequence[Cell], shown: Mapping[str, Sequence[Drawn]]) -> Why | None:
    """The cell of the largest difference that was found, else the first; None where no page of a cell has a figure."""
    wanted, reason = chosen_cell(analysis, cells)
    pair = next((pair for cell in wanted for pair in cell.pairs if shown.get(pair.file)), None)
    if pair is None:
        return None
    leads = tuple((drawn.question, f"{pair.file}#figure-{drawn.name}") for drawn in shown[pair.file])
    return Why(pair.cell_title, reason, leads)


def write_report(study_dir: Path, metric: str | None = None, notes: Sequence[str] = ()) -> Path:
    """Write `report.html` and `report/` in `study_dir`, and a page by itself for each other metric that was asked for,
    now or before; return the path of the page about `metric`. `notes` are sentences that stand beside those of the
    analysis.

    Whatever is missing in the study is said on the page. Raises DecodeError if `study_dir` is no directory, SpecError
    if the study has nothing to compare by `metric`.
    """
    study = read_study(study_dir)
    metrics = metrics_of_pages(study, metric)
    remember_look(study, metrics)
    pages = {name: _write(study, name, metrics, notes) for name in metrics}
    return pages[metric or metrics[0]]


@dataclass(frozen=True)
class _Parts:
    """Parts of the page about one metric."""

    study: Study
    analysis: StudyAnalysis
    others: list[tuple[str, str]]
    """The pages about other metrics: title and file."""
    differences: pl.DataFrame
    trials: pl.DataFrame
    acknowledged: pl.DataFrame
    """Bytes acknowledged over time in every trial."""
    medians: pl.DataFrame
    """Every metric of every arm in every cell."""
    cost: dict[str, TextTable]
    beside: dict[str, TextTable]
    """Tables beside the result table, by the files that hold their data."""
    paper: PaperSection | None
    cells: list[Cell]
    """The cells with the pages of their pairs."""
    leads: Why | None
    timeline: MedianTimeline | None
    because: Because | None
    """Reasons of the cells that have an account."""


def _write(study: Study, metric: str, metrics: list[str], notes: Sequence[str]) -> Path:
    analysis = with_notes(analyse(study, metric), notes)
    data = study.directory / analysis.page / "data"
    data.mkdir(parents=True, exist_ok=True)
    sizes, slow, trials = effects(analysis), tails(analysis), distributions(analysis)
    cells = cells_of(study, analysis)
    shown = write_pairs(study, analysis, cells)
    parts = _Parts(
        study=study,
        analysis=analysis,
        others=[(metric_of(study, name).title, f"{page_of(study, name)}.html") for name in metrics if name != metric],
        differences=differences(analysis),
        trials=trials,
        acknowledged=pair_selector.bytes_acknowledged(study.directory, trials),
        medians=metric_medians(study, analysis),
        cost=_cost(study, analysis, data),
        beside={"effects.csv": effects_table(sizes), "tails.csv": tails_table(slow)},
        # Its p-values are corrected with those of the map: a claim has one verdict, that of the usual page.
        paper=paper_section(study, analysis) if metric == metrics[0] else None,
        cells=cells,
        leads=why(analysis, cells, shown),
        timeline=median_timeline(study, analysis, cells),
        because=because(study, analysis, data, cells, shown),
    )
    parts.differences.write_csv(data / "differences.csv")
    parts.trials.write_csv(data / "distributions.csv")
    parts.acknowledged.write_parquet(data / "bytes_acknowledged.parquet")
    sizes.write_csv(data / "effects.csv")
    slow.write_csv(data / "tails.csv")
    parts.medians.write_csv(data / "metrics.csv")
    path_data(study).write_csv(data / "path.csv")
    if parts.paper is not None:
        parts.paper.data.write_csv(data / "claims.csv")
        if parts.paper.counted.height:
            parts.paper.counted.write_csv(data / "counted_cells.csv")
    page = study.directory / f"{analysis.page}.html"
    draft = page.with_suffix(".partial")
    draft.write_text(_page(parts), encoding="utf-8", errors="xmlcharrefreplace")
    draft.replace(page)
    return page


def _page(parts: _Parts) -> str:
    study, analysis = parts.study, parts.analysis
    selector = pair_selector.selector(analysis, parts.acknowledged)
    if selector is not None:
        _lead_to_pairs(selector, parts.cells)
    beside_answer = findings(study, analysis)
    return render(
        "report.html.j2",
        analysis=analysis,
        others=parts.others,
        answers=answers(analysis),
        noise_floor=number_text.percent(analysis.noise_floor_pct, signed=False),
        levels=comparison_words.interval_levels(analysis) if analysis.comparisons else "",
        level=number_text.level(1 - analysis.alpha),
        heading=heading(study, analysis),
        contents=_contents(parts, beside_answer),
        question=study.spec.question,
        figures={figure.name: figure for figure in figures.FIGURES},
        maps=titled_maps(parts.differences, parts.cells, pair_titles(study, analysis)),
        cells=cell_figures(analysis, parts.trials, [cell["cell_id"] for cell in selector["cells"]] if selector else []),
        shapes=dict(figures.SHAPES),
        selector=selector or {},
        curve_spec=_curve_styles(selector["arms"] if selector else ()),
        results=results_table(analysis),
        whys=comparison_words.whys(analysis),
        counted=number_text.counted,
        beside=parts.beside,
        other_metrics=other_metrics(parts.medians),
        paper=parts.paper,
        cost=parts.cost,
        findings=beside_answer,
        study_figures=study_figures(study, analysis),
        trust=trust_tables(study, analysis),
        spec_text=_read(study.directory / "spec.toml"),
        pair_cells=parts.cells,
        why=parts.leads,
        timeline=parts.timeline,
        because=parts.because,
        no_reasons=_no_reasons(study, analysis),
        plotly=plotly(),
    )


def _no_reasons(study: Study, analysis: StudyAnalysis) -> str:
    """Reason why a page of a transfer's time has no reasons; "" where it has, and for what no account is of."""
    metric = analysis.metric.name
    return other_time_note(metric, MetricScope.TTLB, study.directory.name) if metric in ("ttfb_ms", "upload_ms") else ""


def _cost(study: Study, analysis: StudyAnalysis, data: Path) -> dict[str, TextTable]:
    """Tables by the names of the files that hold their data; system calls only where they were to be counted."""
    costs, calls = cost_data(study), read_counts(study)
    costs.write_csv(data / "cost.csv")
    tables = {"cost.csv": cost_table(costs, analysis)}
    if calls or study.spec.count_system_calls:
        system_call_data(calls).write_csv(data / "system_calls.csv")
        tables["system_calls.csv"] = system_call_table(calls)
    return tables


def _lead_to_pairs(selector: Selector, cells: list[Cell]) -> None:
    """Give each view of the selector the page of its trials."""
    files = {(pair.cell, pair.block): pair.file for cell in cells for pair in cell.pairs}
    for cell in selector["cells"]:
        for view in cell["views"]:
            view["page"] = files.get((cell["cell_id"], view["block"]))


def _curve_styles(arms: Sequence[str]) -> Spec:
    """The figure of bytes acknowledged with an empty curve per arm: the page fills in the pair that is chosen."""
    empty = pl.DataFrame(
        {"arm": arms, "x_ms": [0.0] * len(arms), "bytes": [0.0] * len(arms)}, schema_overrides={"arm": pl.String}
    )
    return packed(figures.spec(figures.BytesAcknowledged().draw(empty)))


def _contents(parts: _Parts, beside_answer: list[TextTable]) -> list[tuple[str, str]]:
    """The page's sections in their order: (anchor, words of the link)."""
    sections = [
        ("answer", "Answer", True),
        ("map", "Map", not parts.analysis.alone),
        ("longest", "Timeline", parts.timeline is not None),
        ("because", "Why?", parts.because is not None),
        ("arms", "The arm" if parts.analysis.alone else "What differs", True),
        ("numbers", "Numbers", bool(parts.analysis.cells())),
        ("paper", "Paper", parts.paper is not None),
        ("distributions", "Distributions", True),
        ("pairs", "Pairs" if parts.because else "Why?", True),
        ("bytes", "Bytes", True),
        ("findings", "How far it carries", bool(beside_answer)),
        ("cost", "Cost", True),
        ("trust", "Trust", True),
        ("again", "Run it again", True),
    ]
    return [(anchor, words) for anchor, words, there in sections if there]


def _read(path: Path) -> str:
    try:
        return read_own(path).decode(errors="replace")
    except OSError:
        return ""


# The tables beside the answer, each from a file of its own, in the order of the page.
def findings(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Return the findings that have something to say."""
    return [
        *sequential_table(study, analysis),
        *remark_tables(study, analysis),
        *factor_tables(study, analysis),
        *least_time_table(study, analysis),
        false_alarm_table(analysis),
    ]


# The spread of the trials of every main cell: as boxes, which the page also draws as violins, and as shares done.
@dataclass(frozen=True)
class CellFigures:
    """Two drawings of the same trials."""

    box: dict[str, object]
    share: dict[str, object]


def cell_figures(analysis: StudyAnalysis, trials: pl.DataFrame, selectable: Sequence[str]) -> list[CellFigures]:
    """Return the drawings of every main cell; a click on a mark opens its place among the `selectable` cells."""
    found = []
    for cell_id in analysis.cells():
        cell = trials.filter((pl.col("cell_id") == cell_id) & (pl.col("kind") == "main"))
        if cell.height:
            cell = figures.in_order(cell, analysis.arms)
            place = selectable.index(cell_id) if cell_id in selectable else -1
            box, share = (_spec(each, cell, place) for each in (figures.Distribution(), figures.Cumulative()))
            found.append(CellFigures(box, share))
    return found


def _spec(figure: figures.Figure, cell: pl.DataFrame, place: int) -> dict[str, object]:
    spec = packed(figures.spec(figure.draw(cell)))
    for trace in spec["data"]:
        trace["meta"] = {"cell": place}
    return spec
