# SPDX-License-Identifier: Apache-2.0
"""Figure of γ: the share of the baseline's stalls without added loss that an arm avoids (Qin et al. 2023, Figure 5)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.compare.metric_values import by_cell_and_arm, mean
from quiclab.compare.model import MeasuredCell
from quiclab.compare.study import Study
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_SCHEMA = {
    **dict.fromkeys(("path_title", "workload_title", "arm", "benchmark_path"), pl.String),
    **dict.fromkeys(("stalls", "benchmark_stalls", "gamma_pct"), pl.Float64),
}


class StallReduction(Figure):
    """A bar per video, network and arm; a text where there is no γ, because the benchmark never stalled."""

    name = "stall_reduction"
    question = (
        "Which stack avoids how many of the stalls that the benchmark has on the same network without added loss?"
    )
    where = Where.STUDY
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "workload_title": "video",
        "path_title": "network",
        "arm": "a bar each, the baseline first",
        "stalls": "mean stalls per trial",
        "benchmark_path": "the same network without added loss; null where the study has none",
        "benchmark_stalls": "mean stalls per trial of the baseline there",
        "gamma_pct": "γ = (benchmark_stalls − stalls) / benchmark_stalls × 100; null where it is 0 or unknown",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return γ of every arm in every cell with a video; it is 0 for the benchmark itself."""
        analysis = asked.analysis
        counts = {key: mean(values) for key, values in by_cell_and_arm(asked.files, "stalls").items()}
        without = _without_loss(asked.files)
        cells: dict[tuple[str | None, str], MeasuredCell] = {
            (each.place.path, each.place.workload): each for each in analysis.cells().values() if analysis.comparisons
        }
        rows: list[dict[str, object]] = []
        for path in analysis.paths:
            for workload in analysis.workloads:
                here, benchmark = cells.get((path, workload)), without.get(path)
                cell = cells.get((benchmark, workload))
                for arm in [each.arm for each in here.arms] if here else []:
                    own = counts.get((here.place.cell_id, arm)) if here else None
                    if own is None:
                        continue
                    baseline = analysis.baselines.get(arm, arm)
                    stalls = counts.get((cell.place.cell_id, baseline)) if cell else None
                    rows.append(
                        {
                            "path_title": analysis.path_titles.get(path, path),
                            "workload_title": analysis.workload_titles.get(workload, workload),
                            "arm": arm,
                            "stalls": own,
                            "benchmark_path": None
                            if benchmark is None
                            else analysis.path_titles.get(benchmark, benchmark),
                            "benchmark_stalls": stalls,
                            "gamma_pct": 100 * (stalls - own) / stalls if stalls else None,
                        }
                    )
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per video, network and arm."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        for arm, style in _style.arms(data):
            label = _style.text(arm)
            bars = data.filter(pl.col("arm") == arm)
            figure.add_bar(
                y=[f"{_style.text(video)},<br>{_style.text(path)}" for video, path in _places(bars)],
                x=[gamma if gamma is not None else 0 for gamma in bars["gamma_pct"]],
                orientation="h",
                name=label,
                marker=_style.bar(style),
                text=[_hover_text(row) for row in bars.iter_rows(named=True)],
                textposition="outside",
                cliponaxis=False,
                hovertemplate="%{text}<extra>" + label + "</extra>",
            )
        known = data["gamma_pct"].drop_nulls()
        low, high = (float(known.min() or 0), float(known.max() or 0)) if known.len() else (0.0, 0.0)  # type: ignore[arg-type]
        room = max(40.0, 0.8 * (max(0.0, high) - min(0.0, low)))
        rows = len({*_places(data)})
        figure.update_layout(_style.with_legend(110 + rows * (20 + 20 * len(arms))), barmode="group", bargap=0.25)
        figure.update_xaxes(
            title={"text": "γ, % of the benchmark's stalls that are avoided"},
            range=[min(0.0, low) - (room if low < 0 else 0), max(0.0, high) + room],
            zeroline=True,
            automargin=True,
        )
        figure.update_yaxes(automargin=True, autorange="reversed", type="category", showgrid=False)
        return figure


def _places(data: pl.DataFrame) -> list[tuple[str, str]]:
    return [(video, path) for video, path in data.select("workload_title", "path_title").iter_rows()]


def _hover_text(row: dict[str, object]) -> str:
    if row["gamma_pct"] is not None:
        return f"{row['gamma_pct']:+.0f} % ({row['stalls']:.3g} against {row['benchmark_stalls']:.3g})".replace(
            "-", "−"
        )
    if row["benchmark_path"] is None:
        return f"no γ: no network without loss ({row['stalls']:.3g} stalls)"
    if row["benchmark_stalls"] is None:
        return f"no γ: the benchmark was not measured ({row['stalls']:.3g} stalls)"
    return f"no γ: the benchmark never stalled ({row['stalls']:.3g} here)"


def _without_loss(study: Study) -> dict[str, str]:
    """Path → the path that is the same but for having no loss; itself where it has none."""
    paths = study.tables("paths")
    clean = {_but_loss(path): str(path["name"]) for path in paths if not _loses(path)}
    return {str(path["name"]): clean[_but_loss(path)] for path in paths if _but_loss(path) in clean}


def _loses(value: Any) -> bool:
    if isinstance(value, dict):
        return any(inner is not None if key == "loss" else _loses(inner) for key, inner in value.items())
    return isinstance(value, list) and any(_loses(inner) for inner in value)


def _but_loss(value: Any) -> str:
    """A path without its names and its loss, as a text to compare."""
    if isinstance(value, dict):
        kept = {key: _but_loss(inner) for key, inner in value.items() if key not in ("name", "title", "loss")}
        return repr(sorted(kept.items()))
    return repr([_but_loss(inner) for inner in value] if isinstance(value, list) else value)
