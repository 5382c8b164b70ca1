# SPDX-License-Identifier: Apache-2.0
"""The screen over the load of a page, an arm a strip, and the visual progress below (Yu and Benson 2021, Figure 13)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._pictures import as_uri

_STRIP_PX, _CURVE_PX, _GAP_PX = 78, 210, 28

_SCHEMA = {**dict.fromkeys(("arm", "picture"), pl.String), "x_ms": pl.Float64, "progress": pl.Float64}
_FRAMES = 9
_STEPS_MS = tuple(digit * 10.0**power for power in range(1, 5) for digit in (1.0, 2.0, 2.5, 5.0))


class Filmstrip(Figure):
    """Pictures at equal steps of time; each stands at its instant on the axis that the curves share."""

    name = "filmstrip"
    question = "What does the reader of a page see, and when?"
    where = Where.PAIR
    tables = ("tables/page_events/*.parquet", "tables/page_progress/*.parquet")
    columns: ClassVar = {
        "arm": "a strip and a curve each, the baseline first",
        "x_ms": "time since navigation start, ms",
        "progress": "how much of the change of colours, from white to the last screenshot, is done, 0 to 1",
        "picture": "what the screen showed at that instant, as a data: URI; null between the steps of the strip",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Progress of every screenshot, and at equal steps of time what the screen showed then."""
        seen = {
            arm: shots
            for arm, trial_id in asked.chosen().trials.items()
            if (shots := _screenshots(asked.study, trial_id)) is not None
        }
        parts = [pl.DataFrame(schema=_SCHEMA)]
        if seen:
            end_ms = max(_done_ms(shots) for shots in seen.values())
            step_ms = next((step for step in _STEPS_MS if end_ms / step < _FRAMES - 1), end_ms)
            instants = [number * step_ms for number in range(int(end_ms // step_ms) + 2)]
            parts += [_strip(arm, shots, instants) for arm, shots in seen.items()]
        return pl.concat(parts)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per screenshot, and one per step of the strip."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        height = len(arms) * (_STRIP_PX + _GAP_PX) + _CURVE_PX
        layout = _style.base_layout(height + 60)
        steps = data.filter(pl.col("picture").is_not_null())["x_ms"].unique().sort()
        step = float(steps.diff().drop_nulls().min() or 1.0) if steps.len() > 1 else 1.0  # type: ignore[arg-type]
        end = float(data["x_ms"].max() or 0.0) + step  # type: ignore[arg-type]
        images: list[dict[str, object]] = []
        names: list[dict[str, object]] = []
        bands: list[dict[str, object]] = []
        for place, (arm, style) in enumerate(_style.arms(data)):
            label = _style.text(arm)
            of_arm = data.filter(pl.col("arm") == arm)
            top = 1 - (place * (_STRIP_PX + _GAP_PX) + _GAP_PX) / height
            names.append(
                {"text": f"<b>{label}</b>", "x": 0, "xref": "paper", "xanchor": "left", "y": top, "yref": "paper",
                 "yanchor": "bottom", "showarrow": False, "font": {"color": style.colour}}
            )  # fmt: skip
            band = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "yref": "paper", "layer": "below"}
            bands.append(
                band | {"y0": top - _STRIP_PX / height, "y1": top, "fillcolor": _style.BLANK, "line": {"width": 0}}
            )
            for x_ms, picture in of_arm.drop_nulls("picture").select("x_ms", "picture").iter_rows():
                images.append(
                    {"source": picture, "xref": "x", "yref": "paper", "x": x_ms, "y": top - _STRIP_PX / height / 2,
                     "sizex": step * 0.94, "sizey": _STRIP_PX / height * 0.94, "sizing": "contain", "xanchor": "left",
                     "yanchor": "middle", "layer": "above"}
                )  # fmt: skip
            figure.add_scatter(
                x=[*of_arm["x_ms"], end],
                y=[100 * part for part in (*of_arm["progress"], of_arm["progress"][-1])],
                name=label,
                mode="lines",
                line={"color": style.colour, "dash": style.dash, "width": 2, "shape": "hv"},
                hovertemplate="%{x:.5g} ms: %{y:.0f} % seen<extra>" + label + "</extra>",
            )
        figure.update_layout(layout | {"images": images, "annotations": names, "shapes": bands, "hovermode": "closest"})
        figure.update_xaxes(
            title={"text": "time since navigation start, ms"}, range=[0, end], dtick=step, automargin=True
        )
        figure.update_yaxes(
            title={"text": "visual progress, %"}, range=[0, 103], domain=[0, (_CURVE_PX - _GAP_PX) / height],
            automargin=True,
        )  # fmt: skip
        return figure


def _screenshots(study: OpenedStudy, trial_id: str) -> pl.DataFrame | None:
    """x_ms, progress and image, in order; None of a trial without screenshots."""
    progress, events = study.trial_table("page_progress", trial_id), study.trial_table("page_events", trial_id)
    if progress is None or events is None or not progress.height:
        return None
    shots = events.filter((pl.col("name") == "Screenshot") & pl.col("image").is_not_null()).sort("time_ns")
    # Progress has a row for each since navigation start; those before it show another page.
    shots = shots.tail(progress.height)
    return progress.with_columns(shots["image"]) if shots.height == progress.height else None


def _done_ms(shots: pl.DataFrame) -> float:
    """Instant from which progress no longer changes, ms."""
    last = shots["progress"][-1]
    changing = shots.filter(pl.col("progress") != last).height
    return float(shots["x_ms"][min(changing, shots.height - 1)])


def _strip(arm: str, shots: pl.DataFrame, instants: list[float]) -> pl.DataFrame:
    rows: list[tuple[float, float, str | None]] = [
        (x_ms, progress, None) for x_ms, progress in shots.select("x_ms", "progress").iter_rows() if x_ms < instants[-1]
    ]
    for instant in instants:
        by_then = shots.filter(pl.col("x_ms") <= instant)
        if by_then.height:
            rows.append((instant, by_then["progress"][-1], as_uri(by_then["image"][-1])))
    frame = pl.DataFrame(rows, schema=("x_ms", "progress", "picture"), orient="row").sort("x_ms", maintain_order=True)
    return frame.select(
        pl.lit(arm).alias(name) if name == "arm" else pl.col(name).cast(kind) for name, kind in _SCHEMA.items()
    )
