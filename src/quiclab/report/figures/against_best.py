# SPDX-License-Identifier: Apache-2.0
"""Each arm against the best of its cell, such as client against client (Yu and Benson 2021, Figure 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.cell_comparison import compare, decide_all
from quiclab.compare.conclusions import conclude_all
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Metric, StudyAnalysis
from quiclab.model import number_text
from quiclab.model.tables import Row
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_SCHEMA = {
    **dict.fromkeys(
        ("path_title", "workload_title", "arm", "best_arm", "cell_text", "details", "conclusion"), pl.String
    ),
    **dict.fromkeys(("behind_pct", "alpha", "matters_pct"), pl.Float64),
    **dict.fromkeys(("best", "significant"), pl.Boolean),
}


class AgainstBest(Figure):
    """Cells by arms. The best arm is marked; coloured where a difference from it was found that matters."""

    name = "against_best"
    question = "Which arm is the best over each network and for each size, and how far behind it are the others?"
    where = Where.STUDY
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "path_title": "network",
        "workload_title": "size",
        "arm": "the columns from left to right",
        "best_arm": "the arm that is better than most others within pairs",
        "best": "whether this arm is the best one",
        "behind_pct": "per cent of the best arm's value by which it is worse in the typical pair; null by failures",
        "significant": "whether the deciding test finds a difference from the best arm",
        "conclusion": "what it amounts to beside what matters; empty for the best arm",
        "matters_pct": "smallest difference that matters, in %",
        "cell_text": "what stands in the cell: a difference that was found, or the conclusion",
        "details": "all numbers of the cell, a line each, for hovering",
        "alpha": "level of the deciding test after correction over all pairs of arms",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return one row per cell and arm.

        The test is corrected over all pairs of arms of all cells: before they are compared, no arm is known to be best.
        """
        pairs = _all_pairs(asked.analysis)
        worse = 1.0 if asked.analysis.metric.lower_is_better else -1.0
        rows: list[dict[str, object]] = []
        for (path, workload), arms in _cells(asked.analysis).items():
            known = [arm for arm in arms if arm.median is not None]
            if len(known) < 2:
                continue
            best = _best(known, (path, workload), pairs, asked.analysis.metric)
            for arm in arms:
                found = pairs.get((path, workload, best.arm, arm.arm))
                behind = None if found is None or found.difference_pct is None else worse * found.difference_pct
                told = [f"{arm.arm}: median {number_text.quantity(arm.median, asked.analysis.metric.unit)}"]
                if found is not None:
                    told.append(f"best: {best.arm}, {number_text.quantity(best.median, asked.analysis.metric.unit)}")
                    p, adjusted = (number_text.p_text(value) or "–" for value in (found.p, found.adjusted_p))
                    told.append(f"{found.pairs} pairs, p {p}, adjusted {adjusted}")
                rows.append(
                    {
                        "path_title": asked.analysis.path_titles.get(path, path),
                        "workload_title": asked.analysis.workload_titles.get(workload, workload),
                        "arm": arm.arm,
                        "best_arm": best.arm,
                        "best": arm is best,
                        "behind_pct": behind,
                        "significant": found is not None and found.outcome.significant,
                        "conclusion": "" if found is None else found.conclusion.value,
                        "cell_text": "best" if arm is best else _cell_text(found, asked.analysis.metric),
                        "details": "\n".join(told),
                        "alpha": asked.analysis.alpha,
                        "matters_pct": asked.analysis.matters_pct,
                    }
                )
        return pl.DataFrame(rows, schema=_SCHEMA)

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether there are several arms beside the baseline: of two the map of differences tells the same."""
        return bool(data.height) and len({c.other.arm for c in asked.analysis.comparisons}) > 1

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per network, size and arm."""
        arms = data["arm"].unique(maintain_order=True).to_list()
        places = data.select("path_title", "workload_title").unique(maintain_order=True).rows()
        cells = {(row["path_title"], row["workload_title"], row["arm"]): row for row in data.iter_rows(named=True)}

        def grid(value: Any, without: Any = None) -> list[list[Any]]:
            return [
                [value(cells[*place, arm]) if (*place, arm) in cells else without for arm in arms] for place in places
            ]

        several = len({size for _, size in places}) > 1
        names = [_style.text(f"{path}, {size}" if several else path) for path, size in places]
        axes = {"x": [_style.text(arm) for arm in arms], "y": names, "xgap": 3, "ygap": 3, "showscale": False}
        shown = [row["behind_pct"] for row in cells.values() if _coloured(row)]
        reach = min(100.0, max(10.0, *shown, 0.0))

        def word(cell: Mapping[str, object]) -> str:
            return _style.cell_word(_style.BEHIND_SCALE, cell["behind_pct"] / reach, _words(cell))

        hover = {
            "customdata": grid(lambda cell: _style.text(cell["details"]).replace("\n", "<br>")),
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        figure = go.Figure(
            [
                go.Heatmap(
                    z=grid(
                        lambda cell: None if _coloured(cell) else int(cell["conclusion"] == Conclusion.NOT_JUDGED.value)
                    ),
                    text=grid(lambda cell: "" if _coloured(cell) else _words(cell), ""),
                    texttemplate="%{text}",
                    textfont={"size": 12, "color": _style.CELL_WORD},
                    colorscale=[[0, _style.CELL_BLANK], [1, _style.CELL_NOT_JUDGED]],
                    zmin=0,
                    zmax=1,
                    **axes,
                    **hover,
                ),
                go.Heatmap(
                    z=grid(lambda cell: cell["behind_pct"] if _coloured(cell) else None),
                    text=grid(lambda cell: word(cell) if _coloured(cell) else "", ""),
                    texttemplate="%{text}",
                    textfont={"size": 13},
                    colorscale=_style.BEHIND_SCALE,
                    zmin=0,
                    zmax=reach,
                    **axes,
                    **hover,
                ),
            ]
        )
        title = [
            "<b>how far behind the best arm of its row</b>",
            f"small: found, but less than {data['matters_pct'][0]:g} %; small?: perhaps",
            f"tested at {data['alpha'][0]:g}, corrected over all pairs of arms",
        ]
        figure.update_layout(_style.noted(60 + 40 * len(places), title))
        figure.update_layout(
            margin={"t": figure.layout.margin.t + 24},  # the names of the columns
            meta={"least_px": _style.map_width_px(figure.data)},
        )
        plain = {"type": "category", "showgrid": False, "ticks": "", "zeroline": False, "automargin": True}
        figure.update_xaxes(**plain | {"side": "top", "tickangle": 0, "fixedrange": True})
        figure.update_yaxes(**plain | {"autorange": "reversed", "fixedrange": True})
        return figure


def _words(cell: Mapping[str, object]) -> str:
    """Words of a cell in lines, as a map on a page has them."""
    return _style.text(cell["cell_text"]).replace(", ", ",<br>")


def _coloured(cell: Row) -> bool:
    """True if the arm was found to be behind, by what matters or perhaps does."""
    found = (Conclusion.DIFFERENT.value, Conclusion.PERHAPS_SMALL.value)
    return cell["conclusion"] in found and (cell["behind_pct"] or 0.0) > 0 and not cell["best"]


def _cell_text(found: Comparison | None, metric: Metric) -> str:
    if found is None:
        return "no data"
    return comparison_words.difference_text(found, metric)


def _best(
    arms: Sequence[ArmResult],
    place: tuple[str, str],
    pairs: Mapping[tuple[str, str, str, str], Comparison],
    metric: Metric,
) -> ArmResult:
    """The arm that is better than most others in the typical pair; of several, the one with the best median."""
    sign = -1.0 if metric.lower_is_better else 1.0

    def rank(arm: ArmResult) -> tuple[int, float]:
        others = [pairs[*place, other.arm, arm.arm] for other in arms if other is not arm]
        return sum(each.leans > 0 for each in others), sign * (arm.median or 0.0)

    return max(arms, key=rank)


def _cells(analysis: StudyAnalysis) -> dict[tuple[str, str], list[ArmResult]]:
    """(path, workload) → its arms, the baseline first."""
    cells: dict[tuple[str, str], list[ArmResult]] = {}
    for c in analysis.comparisons:
        cells.setdefault((c.path, c.workload), [c.baseline]).append(c.other)
    return cells


def _all_pairs(analysis: StudyAnalysis) -> dict[tuple[str, str, str, str], Comparison]:
    """(path, workload, arm, other arm) → their comparison, both ways round."""
    found: dict[tuple[str, str, str, str], Comparison] = {}
    contrasts: list[list[tuple[str, str, str, str]]] = []
    for (path, workload), arms in _cells(analysis).items():
        for one, two in combinations(arms, 2):
            keys = [(path, workload, one.arm, two.arm), (path, workload, two.arm, one.arm)]
            cell = (f"{workload}/{path}", "main", workload, path)
            for key, (first, second) in zip(keys, ((one, two), (two, one)), strict=True):
                found[key] = compare(cell, first, second, analysis.metric, analysis.alpha)
            contrasts.append(keys)
    for way in (0, 1):
        keys = [both[way] for both in contrasts]
        decided = decide_all([found[key] for key in keys], analysis.alpha)
        family = [(each, analysis.metric) for each in decided]
        concluded = conclude_all(family, analysis.alpha, analysis.matters_pct)
        found |= dict(zip(keys, concluded, strict=True))
    return found
