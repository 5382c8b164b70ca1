# SPDX-License-Identifier: Apache-2.0
"""A figure by itself: a page to explore, or a picture for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from quiclab.errors import HostError
from quiclab.figures import THEMES, Figure
from quiclab.figures import spec as spec_of
from quiclab.report.page.packing import packed
from quiclab.report.page.rendering import plotly, render
from quiclab.report.page.thinning import thinned

_WIDTH_PX = 760
"""About the width of a page's text, so that labels keep their size in print; a table may need more."""


def picture_page() -> Any:
    """Return the page in which a Chromium makes pictures.

    Kaleido's own prints with a margin of 0.1 inch, and so cuts twice as much off the right and the bottom of a PDF; and
    it asks a server on the Internet for MathJax, which no figure needs.
    """
    from kaleido import PageGenerator

    page = PageGenerator(mathjax=False)
    page.header += "<style>@page { margin: 0 }</style>\n"
    return page


def _picture(figure: dict[str, Any], ending: str) -> bytes:
    import kaleido

    scale = 2 if ending == "png" else 1
    size = {"width": figure["layout"]["width"], "height": figure["layout"]["height"], "scale": scale}
    picture: bytes = kaleido.calc_fig_sync(
        figure, opts={"format": ending, **size}, kopts={"page_generator": picture_page()}
    )
    return picture


def write_figure(figure: Figure, data: pl.DataFrame, out: Path) -> None:
    """Draw `data` into `out` as its ending says: html, pdf, svg or png. Raises HostError where no Chromium is there."""
    spec = spec_of(figure.draw(data))
    if out.suffix == ".html":
        page = render("figure.html.j2", question=figure.question, name=figure.name, spec=packed(spec),
                      plotly=plotly())  # fmt: skip
        out.write_text(page, encoding="utf-8", errors="xmlcharrefreplace")
        return
    # Imported late: it takes half a second, which the report need not wait for.
    from plotly.graph_objects import Figure as Checked

    light = THEMES["light"]
    grid = {"gridcolor": light["line"], "linecolor": light["line"], "zerolinecolor": light["line"]}
    drawn = Checked(thinned(spec))
    drawn.update_layout(
        font={"color": light["ink"], "size": 13}, paper_bgcolor=light["paper"], plot_bgcolor=light["paper"]
    )
    drawn.update_xaxes(**grid)
    drawn.update_yaxes(**grid)
    drawn.update_layout(width=max(_WIDTH_PX, spec["layout"].get("meta", {}).get("least_px", 0)))
    try:
        out.write_bytes(_picture(drawn.to_dict(), out.suffix[1:]))
    except OSError:
        raise
    except Exception as error:  # its library tells of a missing browser by errors of several kinds
        hint = "install a Chromium (apt-get install chromium), or write .html, which needs none"
        raise HostError(
            f"the figure cannot be written as {out.suffix[1:]}: {str(error).splitlines()[0]}", hint
        ) from error
