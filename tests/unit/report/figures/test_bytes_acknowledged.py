# SPDX-License-Identifier: Apache-2.0
"""Bytes acknowledged over time."""

from __future__ import annotations

import polars as pl

from quiclab.report.figures import BytesAcknowledged


def test_one_step_curve_per_arm() -> None:
    """Both arms share the plot; between two ACKs nothing grows, so the line is a step."""
    data = pl.DataFrame({"arm": ["h2", "h2", "h3"], "x_ms": [60.0, 80.0, 41.5], "bytes": [1000, 5000, 1200]})
    h2, h3 = BytesAcknowledged().draw(data).data
    assert (list(h2.x), list(h2.y)) == ([60.0, 80.0], [1000, 5000])
    assert (h2.name, h3.name) == ("h2", "h3")
    assert h2.line.shape == "hv"
    assert h2.line.dash != h3.line.dash
