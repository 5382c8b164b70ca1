# SPDX-License-Identifier: Apache-2.0
"""A figure by itself: a page to explore, or a picture for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.report.figures import THEMES, Figure
from quiclab.report.figures import spec as spec_of
from quiclab.report.figures._canvas import Spec
from quiclab.report.page.column_packing import packed
from quiclab.report.page.rendering import plotly, render
from quiclab.report.printing import AS_ON_SCREEN, PrintSize, as_latex, printed
from quiclab.store.disk import write_atomically

UNTOUCHED = "the study is untouched"


def plotly_figure(figure: Figure, data: pl.DataFrame) -> Any:
    """Draw `data` as a figure of plotly, in the report's colours on white."""
    # Imported late: it takes half a second, which the report need not wait for.
    from plotly.graph_objects import Figure as Checked

    light = THEMES["light"]
    grid = {"gridcolor": light["line"], "linecolor": light["line"], "zerolinecolor": light["line"]}
    drawn = Checked(thinned(spec_of(figure.draw(data))))
    drawn.update_layout(
        font={"color": light["ink"], "size": 13}, paper_bgcolor=light["paper"], plot_bgcolor=light["paper"]
    )
    drawn.update_xaxes(**grid)
    drawn.update_yaxes(**grid)
    return drawn


def write_figure(figure: Figure, data: pl.DataFrame, out: Path, size: PrintSize = AS_ON_SCREEN) -> None:
    """Draw `data` into `out` as its ending says: html, a table as tex, or a picture of a size as pdf, svg or png.

    Raises SpecError for what no picture or table can have, or has no room for.
    """
    if out.suffix == ".tex":
        table = as_latex(spec_of(figure.table(data)), figure.question)
        write_atomically(out, table.encode(), kept=UNTOUCHED, option="-o")
        return
    spec = spec_of(figure.draw(data))
    if out.suffix == ".html":
        page = render("figure.html.j2", question=figure.question, name=figure.name, spec=packed(spec),
                      plotly=plotly())  # fmt: skip
        write_atomically(out, page.encode(errors="xmlcharrefreplace"), kept=UNTOUCHED, option="-o")
        return
    write_atomically(out, printed(thinned(spec), out.suffix[1:], size), kept=UNTOUCHED, option="-o")


# Long curves for pictures, which cannot be zoomed into: what each pixel shows stays, the rest goes.
THINNED_FROM = 4000
"""Points of a curve that a picture bears."""
_PIXELS = 2000
_COLUMNS = ("x", "y", "customdata", "text")


def thinned(spec: Spec) -> Spec:
    """The figure with its long lines thinned in place to the first, last, least and greatest point of each pixel."""
    for trace in spec["data"]:
        columns = trace.get("x"), trace.get("y")
        if trace.get("type") != "scatter" or "lines" not in trace.get("mode", "lines"):
            continue
        if not all(isinstance(column, list) and len(column) > THINNED_FROM for column in columns):
            continue
        points = len(trace["x"])
        x, y = (pl.Series(column, dtype=pl.Float64).to_numpy() for column in columns)
        keep = kept(x, y)
        for name in _COLUMNS:
            if isinstance(trace.get(name), list) and len(trace[name]) == points:
                trace[name] = [trace[name][place] for place in keep]
    return spec


def kept(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], pixels: int = _PIXELS) -> list[int]:
    """Places of the points that a line of `pixels` pixels shows; all of them where `x` does not rise."""
    if not np.all(np.diff(x) >= 0):
        return list(range(x.size))
    span = (x[-1] - x[0]) or 1.0
    pixel = np.minimum((x - x[0]) / span * pixels, pixels - 1).astype(np.int64)
    starts = np.flatnonzero(np.diff(pixel, prepend=-1))
    ends = np.append(starts[1:], x.size)
    places: set[int] = set()
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        here = y[start:end]
        places |= {start, end - 1}
        gaps = np.flatnonzero(np.isnan(here))
        if gaps.size:
            places.add(start + int(gaps[0]))
        if gaps.size < here.size:
            places |= {start + int(np.nanargmin(here)), start + int(np.nanargmax(here))}
    return sorted(places)
