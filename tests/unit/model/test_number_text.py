# SPDX-License-Identifier: Apache-2.0
"""Numbers and intervals in words."""

from __future__ import annotations

import math

import pytest

from quiclab.compare.statistics import Interval
from quiclab.model import number_text


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(-1.0, 2.0, "−1 … +2 ms"), (-math.inf, 2.0, "at most +2 ms"), (-1.0, math.inf, "at least −1 ms"),
     (-math.inf, math.inf, "no bound")],
)  # fmt: skip
def test_an_open_interval_has_the_bound_that_is_known(low: float, high: float, expected: str) -> None:
    """The other is no number."""
    assert number_text.ends_text(low, high, lambda end: f"{end:+g}".replace("-", "−"), " ms") == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (164.4, "ms", "164 ms"),
        (4312.0, "ms", "4.31 s"),
        (0.08414, "ms", "0.0841 ms"),
        (9_997_000.0, "bit/s", "10.0 Mbit/s"),
        (0.0, "bytes", "0 bytes"),
        (-0.0, "", "0"),
        (-2.5, "%", "−2.50 %"),
        (-1400.0, "ms", "−1.40 s"),
        (math.inf, "ms", "failed"),
        (None, "ms", "–"),
    ],
)
def test_quantities_have_three_digits_and_a_unit(value: float | None, unit: str, expected: str) -> None:
    """Large times turn into seconds, unknown and failed values into words."""
    assert number_text.quantity(value, unit) == expected


@pytest.mark.parametrize(
    ("value", "ends", "expected"),
    [
        (9.17e6, (5.84e6, 14.9e6), "9.17 Mbit/s (5.84 … 14.9 Mbit/s)"),
        (1.2e6, (9e5, 1.5e6), "1.20 Mbit/s (900\u2009000 bit/s … 1.50 Mbit/s)"),
        (8.0e6, (7.999e6, 8.001e6), "8.00 Mbit/s"),
    ],
)
def test_a_measured_value_has_its_ends_where_its_digits_hide_them(
    value: float, ends: tuple[float, float], expected: str
) -> None:
    assert number_text.measured(value, ends, "bit/s") == expected


@pytest.mark.parametrize(
    ("p", "expected"), [(None, ""), (0.00001, "<.0001"), (0.0059, ".0059"), (0.0421, ".042"), (1.0, "1")]
)
def test_p_values_are_short(p: float | None, expected: str) -> None:
    """Two digits that count and no leading zero."""
    assert number_text.p_text(p) == expected


def test_an_open_interval_is_told_by_the_bound_that_it_has() -> None:
    """A side that the data do not bound has no number, in no unit."""
    assert number_text.interval_text(Interval(-1.25, math.inf, 0.95), unit=" %") == "at least −1.2 %"
    assert number_text.interval_text(Interval(-math.inf, 3.4, 0.95)) == "at most +3.4"
    assert number_text.interval_text(Interval(-math.inf, math.inf, 0.95), unit=" %") == "no bound"
    assert number_text.interval_text(Interval(-1.25, 3.4, 0.95), unit=" %") == "−1.2 … +3.4 %"


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (0.95, "−1.2 … +3.4"),
        (0.9527, "−1.2 … +3.4"),
        (0.75, "−1.2 … +3.4 (at 75 %)"),
        (0.9609, "−1.2 … +3.4 (at 96.1 %)"),
    ],
)
def test_an_interval_tells_its_level_where_it_is_not_the_nominal_one(confidence: float, expected: str) -> None:
    """Twenty pairs attain 95.3 % for 95 %, which is as good; three or nine do not come as close."""
    assert number_text.interval_text(Interval(-1.25, 3.4, confidence), 0.95) == expected


def test_a_level_is_never_rounded_to_certainty() -> None:
    """p99 of three trials is bounded below by the least of them, but for one case in a million."""
    assert [number_text.level(each) for each in (0.99, 0.9994, 0.999999, 1.0)] == ["99 %", "99.9 %", ">99.9 %", "100 %"]


def test_an_interval_without_ends_has_no_level_to_tell() -> None:
    """Everything holds the value for sure."""
    assert number_text.level_text(Interval(-math.inf, math.inf, 1.0), 0.95) == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [(12.34, "+12.3 %"), (-0.0002, "0.0 %"), (-0.0412, "−0.04 %"), (0.0, "0.0 %"), (-0.05, "−0.1 %"), (None, "")],
)
def test_per_cent_has_no_more_digits_than_pairs_can_decide(value: float | None, expected: str) -> None:
    """One decimal, two where the first is 0, and no sign before zero."""
    assert number_text.percent(value) == expected
