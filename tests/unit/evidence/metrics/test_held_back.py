# SPDX-License-Identifier: Apache-2.0
"""Requests that the browser held back, as its log counts them."""

from __future__ import annotations

from typing import Any

import pytest
from trial_records import record

from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.held_back import HELD_BACK

_PAGE = {"page": {"document": "index.html"}}


def _value(trial: dict[str, Any]) -> float:
    (metric,) = HELD_BACK
    return float(metric.compute(Evidence({}, record(trial))))


def test_the_count_of_the_log() -> None:
    """It stands with the document's request."""
    assert _value({"expected": _PAGE, "client": {"requests": [{"requests_held_back": 65}, {}]}}) == 65


@pytest.mark.parametrize(
    ("trial", "why"),
    [
        ({"expected": {}, "client": {"requests": [{"requests_held_back": 0}]}}, "no page"),
        ({"expected": _PAGE, "client": {"requests": [{}]}}, "no log"),
        ({"expected": _PAGE, "client": None}, "no log"),
    ],
)
def test_what_no_log_tells_is_unknown(trial: dict[str, Any], why: str) -> None:
    """Firefox writes none of the kind."""
    with pytest.raises(Unknown, match=why):
        _value(trial)
