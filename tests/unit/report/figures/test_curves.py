# SPDX-License-Identifier: Apache-2.0
"""Curves of several trials over each other."""

from __future__ import annotations

import polars as pl

from quiclab.report.figures import _curves, spec


def test_trials_of_an_arm_share_colour_and_legend() -> None:
    """Three trials of h2 and one of h3: four curves, one entry in the legend for each arm, and hovering tells which."""
    data = pl.DataFrame(
        {"arm": ["h2", "h2", "h2", "h3"], "trial": ["block 0", "block 1", "block 2", "block 0"]}
        | {"series": ["window"] * 4, "x_ms": [1.0] * 4, "y": [2.0] * 4}
    )
    curves = spec(_curves.draw(data, "window", "bytes"))["data"]
    assert [curve.get("showlegend", True) for curve in curves] == [True, False, False, True]
    assert len({curve["line"]["color"] for curve in curves[:3]}) == 1
    assert "h2, block 2" in curves[2]["hovertemplate"]
