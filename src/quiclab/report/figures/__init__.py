# SPDX-License-Identifier: Apache-2.0
"""Figures people explore: each a module with its question, the data that answer it, and their drawing.

A module says what it asks for and where it stands, and is one line of `_registry.py`; `_api.py` is the Protocol.
"""

import polars as pl

from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked, Window
from quiclab.report.figures._canvas import spec
from quiclab.report.figures._chosen import Chosen
from quiclab.report.figures._reason_style import ink as ink_on
from quiclab.report.figures._reason_style import reason_colour, reason_name
from quiclab.report.figures._registry import FIGURES
from quiclab.report.figures._series import FURTHER
from quiclab.report.figures._style import THEMES, colour_at, css_variables, fit_map, in_order, short, text
from quiclab.report.figures.bytes_acknowledged import BytesAcknowledged
from quiclab.report.figures.cumulative import Cumulative
from quiclab.report.figures.difference_map import DifferenceMap
from quiclab.report.figures.distribution import SHAPES, Distribution

__all__ = [
    "FIGURES",
    "FURTHER",
    "SHAPES",
    "THEMES",
    "Asked",
    "BytesAcknowledged",
    "Chosen",
    "Cumulative",
    "DifferenceMap",
    "Distribution",
    "Figure",
    "Where",
    "Window",
    "colour_at",
    "css_variables",
    "fit_map",
    "gathered",
    "in_order",
    "ink_on",
    "reason_colour",
    "reason_name",
    "short",
    "spec",
    "text",
]


def gathered(figure: Figure, asked: Asked) -> pl.DataFrame:
    """Return what a figure gathers, with its arms in the order of the study: each has one colour in all figures.

    Raises as the figure does: SpecError for what the study lacks.
    """
    return in_order(figure.gather(asked), asked.analysis.arms)
