# SPDX-License-Identifier: Apache-2.0
"""A metric along one factor."""

from __future__ import annotations

import itertools

import polars as pl

from quiclab.report.figures import spec
from quiclab.report.figures.factor import Factor


def table(panels: list[str], medians: list[float | None], left_out: str = "") -> pl.DataFrame:
    """Two arms, a value of the factor for each median."""
    rows = [
        {"panel": panel, "arm": arm, "x": 10.0**place, "median": median, "low": None, "high": None}
        for panel, arm in itertools.product(panels, ("h2", "<h3>"))
        for place, median in enumerate(medians, 3)
    ]
    fixed = {"x_title": "bytes", "metric_title": "time", "unit": "ms", "left_out": left_out}
    numbers = dict.fromkeys(("median", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=numbers).with_columns(**{k: pl.lit(v) for k, v in fixed.items()})


def test_every_panel_has_every_arm_and_the_legend_has_each_once() -> None:
    """Three panels of two arms on axes that zoom together; an arm looks alike in each."""
    drawn = spec(Factor().draw(table(["<10 KB, 36 ms, 1 % loss", "1 MB", "5 MB"], [1.0, 2.0])))
    assert len(drawn["data"]) == 6
    assert len({trace["xaxis"] for trace in drawn["data"]}) == 3
    assert [trace["name"] for trace in drawn["data"] if trace["showlegend"]] == ["h2", "&lt;h3&gt;"]
    looks = {(trace["name"], trace["line"]["color"], trace["marker"]["symbol"]) for trace in drawn["data"]}
    assert len(looks) == 2
    assert drawn["layout"]["yaxis3"]["matches"] == "y"
    names = [text["text"].replace("\N{NO-BREAK SPACE}", " ") for text in drawn["layout"]["annotations"]]
    assert names == ["<10 KB, 36 ms,<br>1 % loss".replace("<1", "&lt;1", 1), "1 MB", "5 MB"]


def test_a_decade_is_drawn_as_one() -> None:
    """Sizes by powers of ten on a logarithmic axis, times that differ by half on a linear one."""
    layout = spec(Factor().draw(table([""], [2.0, 3.0])))["layout"]
    assert (layout["xaxis"]["type"], layout["yaxis"]["type"]) == ("log", "linear")


def test_what_is_missing_is_said_on_the_figure() -> None:
    """Paths without a number, and cells without a median."""
    texts = " ".join(
        text["text"].replace("<br>", " ")
        for text in spec(Factor().draw(table([""], [2.0, None], "not shown: bursts")))["layout"]["annotations"]
    )
    assert "not shown: bursts" in texts
    assert "2 of 4" in texts


def test_a_study_whose_every_trial_failed_still_draws() -> None:
    """No median at all."""
    assert len(spec(Factor().draw(table([""], [None, None])))["data"]) == 2
