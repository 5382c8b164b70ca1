# SPDX-License-Identifier: Apache-2.0
"""Periods of service, by hand."""

from __future__ import annotations

import polars as pl
import pytest

from quiclab.accounting.bottleneck import Period, busy_periods
from quiclab.metrics import Unknown

_COLUMNS = ("index", "left_ns", "service_ns", "size_bytes")


def _packets(*rows: tuple[int, int | None, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")


def test_packets_served_without_a_gap_are_one_period() -> None:
    """A packet that found no room was never served; order is that of service."""
    found = busy_periods(
        _packets((2, 30, 10, 100), (0, 10, 10, 100), (1, None, 10, 100), (3, 55, 5, 40), (4, 60, 5, 40))
    )
    assert list(found) == [Period(0, 10, 0, 1, 100), Period(20, 30, 2, 1, 100), Period(50, 60, 3, 2, 80)]


def test_two_packets_in_service_at_one_time_are_refused() -> None:
    """Such a log does not tell when the bottleneck was busy."""
    with pytest.raises(Unknown, match="two packets in service"):
        list(busy_periods(_packets((0, 10, 10, 100), (1, 15, 10, 100))))
