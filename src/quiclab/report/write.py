# SPDX-License-Identifier: Apache-2.0
"""Write a study's report: one HTML page that needs no network, and the data of its figures beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from quiclab import figures
from quiclab.report import curves, figure_data, wording
from quiclab.report.analyse import analyse
from quiclab.report.claims_section import PaperSection, paper_section
from quiclab.report.cost import cost_data, cost_table
from quiclab.report.effects import effects, effects_table, tails, tails_table
from quiclab.report.findings import findings
from quiclab.report.model import Comparison, StudyAnalysis
from quiclab.report.other_metrics import other_metrics
from quiclab.report.packing import packed
from quiclab.report.pair_page import write_pairs
from quiclab.report.pairs import Cell, cells_of
from quiclab.report.rendering import plotly, render
from quiclab.report.study import Study, read_study
from quiclab.report.study_figures import study_figures
from quiclab.report.system_calls import read_counts, system_call_data, system_call_table
from quiclab.report.text_table import TextTable
from quiclab.report.trust import trust_tables
from quiclab.report.why import Why, why

RESULT_HEADINGS = (
    "network", "size", "baseline", "median", "failed", "void", "other", "median", "failed", "void",
    "pairs", "difference", "interval, %", "p", "adjusted p", "Mann–Whitney p", "Welch p",
)  # fmt: skip


def write_report(study_dir: Path) -> Path:
    """Write `report.html` and `report/data/` in `study_dir`; return the page's path.

    Whatever is missing in the study is said on the page. Raises DecodeError if `study_dir` is no directory.
    """
    study = read_study(study_dir)
    analysis = analyse(study)
    differences, trials = figure_data.differences(analysis), figure_data.distributions(analysis)
    acknowledged = figure_data.bytes_acknowledged(study_dir, trials)
    data = study_dir / "report" / "data"
    data.mkdir(parents=True, exist_ok=True)
    differences.write_csv(data / "differences.csv")
    trials.write_csv(data / "distributions.csv")
    acknowledged.write_parquet(data / "bytes_acknowledged.parquet")
    sizes, slow = effects(analysis), tails(analysis)
    sizes.write_csv(data / "effects.csv")
    slow.write_csv(data / "tails.csv")
    cost = _cost(study, analysis, data)
    paper = paper_section(study, analysis)
    if paper is not None:
        paper.data.write_csv(data / "claims.csv")
    page = study_dir / "report.html"
    draft = page.with_suffix(".partial")
    beside = {"effects.csv": effects_table(sizes), "tails.csv": tails_table(slow)}
    cells = cells_of(study, analysis)
    shown = write_pairs(study, analysis, cells)
    leads = why(analysis, cells, shown)
    html = _page(study, analysis, differences, trials, acknowledged, cost, beside, paper, cells, leads)
    draft.write_text(html, encoding="utf-8", errors="xmlcharrefreplace")
    draft.replace(page)
    return page


def _page(
    study: Study,
    analysis: StudyAnalysis,
    differences: pl.DataFrame,
    trials: pl.DataFrame,
    acknowledged: pl.DataFrame,
    cost: dict[str, TextTable],
    beside: dict[str, TextTable],
    paper: PaperSection | None,
    pair_cells: list[Cell],
    leads: Why | None,
) -> str:
    selector = curves.selector(analysis, acknowledged)
    _lead_to_pairs(selector, pair_cells)
    return render(
        "report.html.j2",
        analysis=analysis,
        answers=wording.answers(analysis),
        noise_floor=wording.percent(analysis.noise_floor_pct, signed=False),
        pairs=_pairs(analysis),
        question=study.resolved.get("question"),
        figures={figure.name: figure for figure in figures.FIGURES},
        maps=_maps(differences, pair_cells),
        cells=_cells(analysis, trials, [cell["cell_id"] for cell in selector.get("cells", [])]),
        selector=selector,
        curve_spec=_curve_styles(selector),
        result_headings=RESULT_HEADINGS,
        results=[_result(comparison, analysis) for comparison in (*analysis.comparisons, *analysis.controls)],
        whys=wording.whys(analysis),
        counted=wording.counted,
        method=_method(analysis),
        beside=beside,
        other_metrics=other_metrics(study, analysis),
        paper=paper,
        cost=cost,
        findings=findings(study, analysis),
        study_figures=study_figures(study, analysis),
        trust=trust_tables(study, analysis),
        spec_text=_read(study.directory / "spec.toml"),
        pair_cells=pair_cells,
        why=leads,
        plotly=plotly(),
    )


def _cost(study: Study, analysis: StudyAnalysis, data: Path) -> dict[str, TextTable]:
    """Tables by the names of the files that hold their data; system calls only where they were to be counted."""
    costs, calls = cost_data(study), read_counts(study)
    costs.write_csv(data / "cost.csv")
    tables = {"cost.csv": cost_table(costs, analysis)}
    if calls or study.resolved.get("count_system_calls"):
        system_call_data(calls).write_csv(data / "system_calls.csv")
        tables["system_calls.csv"] = system_call_table(calls)
    return tables


def _maps(differences: pl.DataFrame, cells: list[Cell]) -> list[dict[str, Any]]:
    """One map of differences for each arm that is compared with the baseline; each of its cells leads to its pairs."""
    if not differences.height:
        return []
    opens = {cell.cell_id: cell.pairs[0].file for cell in cells}
    maps = []
    main = differences.filter(pl.col("kind") == "main")
    for _, arm in main.group_by("other_arm", maintain_order=True):
        spec = packed(figures.spec(figures.DifferenceMap().draw(arm)))
        places = {(row["path_title"], row["workload_title"]): row["cell_id"] for row in arm.iter_rows(named=True)}
        rows, columns = (arm[name].unique(maintain_order=True) for name in ("path_title", "workload_title"))
        files = [[opens.get(places.get((row, column), "")) for column in columns] for row in rows]
        for trace in spec["data"]:
            trace["meta"] = {"opens": files}
        maps.append(spec)
    return maps


def _cells(analysis: StudyAnalysis, trials: pl.DataFrame, selectable: list[str]) -> list[dict[str, Any]]:
    """The distribution of every main cell; a click on a mark opens its place in the pair selector."""
    specs = []
    for cell_id in dict.fromkeys(comparison.cell_id for comparison in analysis.comparisons):
        cell = trials.filter((pl.col("cell_id") == cell_id) & (pl.col("kind") == "main"))
        if cell.height:
            spec = packed(figures.spec(figures.Distribution().draw(cell)))
            for trace in spec["data"]:
                trace["meta"] = {"cell": selectable.index(cell_id) if cell_id in selectable else -1}
            specs.append(spec)
    return specs


def _lead_to_pairs(selector: dict[str, Any], cells: list[Cell]) -> None:
    """Give each view of the selector the page of its trials."""
    files = {(pair.cell, pair.block): pair.file for cell in cells for pair in cell.pairs}
    for cell in selector.get("cells", []):
        for view in cell["views"]:
            view["page"] = files.get((cell["cell_id"], view["block"]))


def _curve_styles(selector: dict[str, Any]) -> dict[str, Any]:
    """The figure of bytes acknowledged with an empty curve per arm: the page fills in the pair that is chosen."""
    arms = selector.get("arms", [])
    empty = pl.DataFrame(
        {"arm": arms, "x_ms": [0.0] * len(arms), "bytes": [0.0] * len(arms)}, schema_overrides={"arm": pl.String}
    )
    return packed(figures.spec(figures.BytesAcknowledged().draw(empty)))


def _result(comparison: Comparison, analysis: StudyAnalysis) -> tuple[str, ...]:
    sides: list[str] = []
    for arm in (comparison.baseline, comparison.other):
        sides += [arm.arm, wording.quantity(arm.median, analysis.metric.unit), str(arm.failures), str(arm.voids)]
    path, size = comparison.path, comparison.workload
    return (
        analysis.path_titles.get(path, path),
        analysis.workload_titles.get(size, size),
        *sides,
        str(comparison.pairs),
        wording.difference_text(comparison),
        wording.interval_text(comparison.interval_pct),
        *map(wording.p_text, (comparison.p, comparison.adjusted_p, comparison.mann_whitney_p, comparison.welch_p)),
    )


def _method(analysis: StudyAnalysis) -> str:
    if analysis.sequential:
        return (
            "Difference: (median of the baseline − median of the other arm) / median of the baseline × 100. Decided at "
            f"{analysis.alpha:g} by {analysis.decided_by}; interval and p are its own, and hold however often one "
            "looked. Failed trials rank worst and leave Welch blank."
        )
    return (
        "Difference: (median of the baseline − median of the other arm) / median of the baseline × 100. The exact "
        f"signed-rank test of the pairs decides, at {analysis.alpha:g} after Benjamini–Hochberg over "
        f"{len(analysis.comparisons)} comparisons; blank where it does not. Interval: Hodges–Lehmann, of the shift "
        "within pairs, in per cent of the baseline's median, not corrected. Failed trials rank worst and "
        "leave Welch blank."
    )


def _pairs(analysis: StudyAnalysis) -> str:
    """`9 pairs`, or `7 to 9 pairs` where cells differ."""
    pairs = [comparison.pairs for comparison in analysis.comparisons] or [0]
    least, most = min(pairs), max(pairs)
    return wording.counted(most, "pair") if least == most else f"{least} to {most} pairs"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
