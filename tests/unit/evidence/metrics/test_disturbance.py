# SPDX-License-Identifier: Apache-2.0
"""Metrics of the time that the laboratory added, by trial.json."""

from __future__ import annotations

from typing import Any

import pytest
from trial_records import record

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.disturbance import disturbance_most_ms, disturbance_ms


def _evidence(**changes: Any) -> Evidence:
    told = {"time_ns": 100_000_000, "cost_ns": 1_500_000, "most_ns": 2_000_000, "by": "account"}
    return Evidence({}, record({"disturbance": told | changes}))


def test_both_are_in_ms() -> None:
    """The estimate and its bound."""
    assert disturbance_ms(_evidence()) == 1.5
    assert disturbance_most_ms(_evidence()) == 2.0


@pytest.mark.parametrize(
    "changes",
    [{"cost_ns": -1}, {"cost_ns": -5, "most_ns": -5}, {"most_ns": 0}, {"most_ns": 10**15}, {"by": "bound"}],
)
def test_what_cannot_be_is_not_known(changes: dict[str, Any]) -> None:
    """No verdict writes such times, which would narrow an interval, or widen it without end."""
    with pytest.raises(Unknown):
        disturbance_most_ms(_evidence(**changes))


def test_a_trial_of_an_earlier_version_tells_nothing() -> None:
    """The lateness of its link judged it."""
    with pytest.raises(Unknown):
        disturbance_ms(Evidence({}, record({})))
