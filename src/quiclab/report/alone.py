# SPDX-License-Identifier: Apache-2.0
"""A figure by itself: a page to explore, or a picture for a paper."""

from __future__ import annotations

import html
from pathlib import Path

import polars as pl

from quiclab.errors import HostError
from quiclab.figures import THEMES, Figure, spec

_WIDTH_PX = 760
"""About the width of a page's text, so that labels keep their size in print."""


def write_figure(figure: Figure, data: pl.DataFrame, out: Path) -> None:
    """Draw `data` into `out` as its ending says: html, pdf, svg or png. Raises HostError where no Chromium is there."""
    # Imported late: it takes half a second, which the report need not wait for.
    from plotly.graph_objects import Figure as Checked

    drawn = Checked(spec(figure.draw(data)))
    light = THEMES["light"]
    grid = {"gridcolor": light["line"], "linecolor": light["line"], "zerolinecolor": light["line"]}
    drawn.update_layout(
        font={"color": light["ink"], "size": 13}, paper_bgcolor=light["paper"], plot_bgcolor=light["paper"]
    )
    drawn.update_xaxes(**grid)
    drawn.update_yaxes(**grid)
    if out.suffix == ".html":
        head, tail = drawn.to_html(include_plotlyjs=True, full_html=True).split("<head>", 1)
        title = f"<title>{html.escape(figure.question)}</title>"
        out.write_text(f"{head}<head>{title}{tail}", encoding="utf-8")
        return
    drawn.update_layout(width=_WIDTH_PX)
    try:
        drawn.write_image(out, scale=2 if out.suffix == ".png" else 1)
    except Exception as error:  # its library tells of a missing browser by errors of several kinds
        hint = "install a Chromium (apt-get install chromium), or write .html, which needs none"
        raise HostError(f"the figure cannot be made a {out.suffix[1:]}: {str(error).splitlines()[0]}", hint) from error
