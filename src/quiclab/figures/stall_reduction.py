# SPDX-License-Identifier: Apache-2.0
"""γ: which part of the baseline's stalls without added loss each arm avoids (Qin et al. 2023, Figure 5)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _canvas as go
from quiclab.figures import _style


class StallReduction:
    """A bar per video, network and arm; a text where there is no γ, because the benchmark never stalled."""

    name = "stall_reduction"
    question = (
        "Which stack avoids how many of the stalls that the benchmark has on the same network without added loss?"
    )
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "workload_title": "video",
        "path_title": "network",
        "arm": "a bar each, the baseline first",
        "stalls": "mean stalls per trial",
        "benchmark_path": "the same network without added loss; null where the study has none",
        "benchmark_stalls": "mean stalls per trial of the baseline there",
        "gamma_pct": "γ = (benchmark_stalls − stalls) / benchmark_stalls × 100; null where it is 0 or unknown",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per video, network and arm."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        for place, arm in enumerate(arms):
            style, label = _style.arm_style(place), _style.text(arm)
            bars = data.filter(pl.col("arm") == arm)
            figure.add_bar(
                y=[f"{_style.text(video)},<br>{_style.text(path)}" for video, path in _places(bars)],
                x=[gamma if gamma is not None else 0 for gamma in bars["gamma_pct"]],
                orientation="h",
                name=label,
                marker=_style.bar(style),
                text=[_told(row) for row in bars.iter_rows(named=True)],
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


def _told(row: dict[str, Any]) -> str:
    if row["gamma_pct"] is not None:
        return f"{row['gamma_pct']:+.0f} % ({row['stalls']:.3g} against {row['benchmark_stalls']:.3g})".replace(
            "-", "−"
        )
    if row["benchmark_path"] is None:
        return f"no γ: no network without loss ({row['stalls']:.3g} stalls)"
    if row["benchmark_stalls"] is None:
        return f"no γ: the benchmark was not measured ({row['stalls']:.3g} stalls)"
    return f"no γ: the benchmark never stalled ({row['stalls']:.3g} here)"
