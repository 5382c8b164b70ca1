# SPDX-License-Identifier: Apache-2.0
"""The picture of a paper's claims: where each stands on the axis of ratios, and what has no place there."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from headlines_figure import Mark, mark, marks, picture
from headlines_results import CellResults, Headline

HEADLINE = Headline("Y1", "1", "text", (("cell", "c"),))
TEN_S = {"text": "10 s", "value": 10_000.0, "low": 9_000.0, "high": 11_000.0, "unit": "ms", "margin": "10 %"}
NINETY = {"text": "90 %", "value": 90.0, "low": 85.0, "high": 95.0, "unit": "%", "margin": "5 %"}


def _row(**more: Any) -> dict[str, Any]:
    return {
        "claim": "c", "verdict": "agrees", "second_arm": "h3", "workload": "1MB", "path": "plain", "metric": "ttlb_ms",
        "ours": -20.0, "low": -25.0, "high": -10.0, "unit": "%",
    } | more  # fmt: skip


def test_counts_and_spreads_have_no_ratio() -> None:
    """A count of cells is no share of the paper's number, and a spread is no time."""
    share = {"text": "22 of 30", "value": 22 / 30, "low": 22 / 30, "high": 22 / 30, "unit": "share", "margin": ""}
    assert mark(HEADLINE, _row(unit="cells", ours=4.0), share, 0.05) is None
    assert mark(HEADLINE, _row(statistic="coefficient of variation"), {"direction": "higher"}, 0.05) is None


@pytest.mark.parametrize(
    ("row", "expected", "ours", "says"),
    [
        (_row(), {"direction": "lower"}, (0.8, 0.75, 0.9), (0.0, 1.0)),
        (_row(), {"direction": "higher"}, (0.8, 0.75, 0.9), (1.0, math.inf)),
        (_row(), {"direction": "same"}, (0.8, 0.75, 0.9), (1 / 1.05, 1.05)),
        (_row(low=None, high=None), {"direction": "not higher"}, (0.8, 0.8, 0.8), (0.0, 1.05)),
        (
            _row(second_arm=None, unit="ms", ours=12_000.0, low=11_500.0, high=12_500.0),
            TEN_S,
            (1.2, 1.15, 1.25),
            (0.9, 1.1),
        ),
        (_row(ours=80.0, low=75.0, high=85.0), NINETY, (0.2, 0.15, 0.25), (0.05, 0.15)),
        (
            _row(ours=80.0, low=75.0, high=85.0, metric="throughput_bit_per_s"),
            NINETY,
            (1.8, 1.75, 1.85),
            (1.85, 1.95),
        ),
    ],
)
def test_where_a_claim_stands(
    row: dict[str, Any], expected: dict[str, Any], ours: tuple[float, ...], says: tuple[float, float]
) -> None:
    """A number is a multiple of the paper's; an advantage and a direction are of the second arm to the first."""
    found = mark(HEADLINE, row, expected, 0.05)
    assert found is not None
    assert (found.ours, found.low, found.high) == pytest.approx(ours)
    assert (found.says_low, found.says_high) == pytest.approx(says)
    assert found.change is (row["unit"] == "%")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (_row(ours=None), {"direction": "lower"}),
        (_row(unit="ms", ours=1_190.0), {"low": 0.0, "high": 1_000.0, "value": 500.0, "unit": "ms", "range": True}),
        (_row(unit="ms", ours=1_190.0), TEN_S),
        (_row(second_arm=None, unit="%", ours=3.0), {"value": 0.0, "low": 0.0, "high": 1.0, "unit": "%"}),
    ],
)
def test_what_has_no_ratio_has_no_place(row: dict[str, Any], expected: dict[str, Any]) -> None:
    """No value, a range, a difference in seconds, a number that is zero."""
    assert mark(HEADLINE, row, expected, 0.05) is None


def test_the_picture_has_a_row_for_each_claim() -> None:
    """It is well-formed, whatever a claim is called, and holds what lies beyond its axis at the edge. What was measured
    before its spec changed has no row."""
    results = {
        "cell": CellResults(
            {"c": [_row(), _row(verdict="differs", path="<b>"), _row(path="other now", changed="rate")]},
            expected={"c": {"direction": "lower"}},
        )
    }
    placed = [*marks([HEADLINE], results), Mark("far", "differs", False, 900.0, 800.0, 1000.0, 0.9, 1.1)]
    tree = ET.fromstring(picture("Yu & Benson", placed))
    texts = ["".join(each.itertext()) for each in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert "Yu & Benson" in texts
    assert [text for text in texts if text.startswith("Y1")] == ["Y1 c (1MB, plain)", "Y1 c (1MB, <b>)"]
    (circle,) = tree.iter("{http://www.w3.org/2000/svg}circle")
    assert float(circle.attrib["cx"]) == 790.0
