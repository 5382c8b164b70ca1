# SPDX-License-Identifier: Apache-2.0
"""The share of the time that QUIC saves, as the paper defines it."""

from __future__ import annotations

import math

import pytest

from quiclab.report.figures.zero_rtt import alpha_pct


@pytest.mark.parametrize(
    ("tcp", "quic", "lower_is_better", "expected"),
    [
        (200.0, 150.0, True, 25.0),
        (150.0, 300.0, True, -100.0),
        (100.0, 150.0, False, 50.0),
        (0.0, 1.0, True, None),
        (math.inf, 1.0, True, None),
        (1.0, math.nan, True, None),
    ],
)
def test_what_quic_saves(tcp: float, quic: float, lower_is_better: bool, expected: float | None) -> None:
    """In per cent of TCP's; None where that has no meaning."""
    assert alpha_pct(tcp, quic, lower_is_better=lower_is_better) == expected
