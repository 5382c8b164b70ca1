# SPDX-License-Identifier: Apache-2.0
"""Figures people explore: one a file, each with the question it answers and the columns it needs."""

from quiclab.figures._api import Figure
from quiclab.figures._canvas import spec
from quiclab.figures._registry import FIGURES
from quiclab.figures._style import THEMES, css_variables
from quiclab.figures.bytes_acknowledged import BytesAcknowledged
from quiclab.figures.cumulative import Cumulative
from quiclab.figures.difference_map import DifferenceMap
from quiclab.figures.distribution import SHAPES, Distribution

__all__ = [
    "FIGURES",
    "SHAPES",
    "THEMES",
    "BytesAcknowledged",
    "Cumulative",
    "DifferenceMap",
    "Distribution",
    "Figure",
    "css_variables",
    "spec",
]
