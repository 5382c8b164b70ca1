# SPDX-License-Identifier: Apache-2.0
"""The distribution of one cell."""

from __future__ import annotations

import polars as pl

from quiclab.report.figures import Distribution


def trials(rows: list[tuple[str, int, str, float | None, str]]) -> pl.DataFrame:
    """The figure's table from (arm, block, status, value, reason)."""
    columns = ["arm", "block", "status", "value", "reason"]
    frame = pl.DataFrame(rows, schema=columns, orient="row", schema_overrides={"value": pl.Float64})
    fixed = {"cell_title": "1 % loss, 5 MB", "metric_title": "time to last byte", "unit": "ms"}
    return frame.with_columns(
        trial_id=pl.col("arm") + pl.col("block").cast(pl.String), **{k: pl.lit(v) for k, v in fixed.items()}
    )


MIXED = trials(
    [
        ("h2", 0, "verified", 200.0, ""),
        ("h2", 1, "failed", None, "client <hung>"),
        ("h3", 0, "verified", 150.0, ""),
        ("h3", 1, "verified", 160.0, ""),
    ]
)


def test_every_trial_is_a_mark() -> None:
    """All values appear as points beside the box; failures appear as crosses with their reason."""
    h2, failed, h3 = Distribution().draw(MIXED).data
    assert (list(h2.x), list(h3.x)) == ([200.0], [150.0, 160.0])
    assert h2.boxpoints == h3.boxpoints == "all"
    assert len(failed.x) == 1
    assert failed.text[0] == "1 failed"
    assert failed.customdata[0][1] == "client &lt;hung&gt;"


def test_failures_stand_beyond_every_value() -> None:
    """A failed trial ranks worst, and is drawn so."""
    figure = Distribution().draw(MIXED)
    assert figure.data[1].x[0] > 200.0


def test_arms_differ_by_marker_and_not_by_colour_alone() -> None:
    """Colour-blind readers and paper need the shape."""
    h2, _, h3 = Distribution().draw(MIXED).data
    assert h2.marker.symbol != h3.marker.symbol
    assert h2.marker.color != h3.marker.color


def test_only_failures_still_draw() -> None:
    """Without a single value there is a row of crosses and no error."""
    figure = Distribution().draw(trials([("h2", 0, "failed", None, "x"), ("h3", 0, "failed", None, "y")]))
    assert sum(trace.type == "scatter" for trace in figure.data) == 2
