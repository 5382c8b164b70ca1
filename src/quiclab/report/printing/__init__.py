# SPDX-License-Identifier: Apache-2.0
"""Figures as pictures for papers: PDF, SVG and PNG without a browser.

A figure is plain data of plotly's (`figures`). `known.py` says which part of that a picture has, and refuses all else;
`picture.py` finds room for margins, axes, legend and title, and has each part drawn: `point_traces.py`,
`bar_traces.py`, `spread.py` and `cells.py` draw traces, `axis_marks.py` what is around a plot, `notes.py` the rest.
`paper.py` is the only module that draws by matplotlib. `latex.py` writes tables.
"""

from quiclab.report.printing.latex import as_latex, escaped
from quiclab.report.printing.picture import printed
from quiclab.report.printing.print_size import AS_ON_SCREEN, PrintSize

__all__ = ["AS_ON_SCREEN", "PrintSize", "as_latex", "escaped", "printed"]
