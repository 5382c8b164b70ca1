# SPDX-License-Identifier: Apache-2.0
"""How connections began, by the answers that the proof tells of."""

from __future__ import annotations

from typing import Any

import pytest
from trial_records import record

from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.sessions import SESSIONS

_ANSWERS = [
    {"resumed": False, "early_data": "not_offered"},
    {"resumed": True, "early_data": "not_offered"},
    {"resumed": True, "early_data": "accepted"},
    {"resumed": True, "early_data": "accepted"},
    {"resumed": False, "early_data": "rejected"},
    {"resumed": None, "early_data": "not_offered"},
]


def _counts(trial: dict[str, Any]) -> dict[str, float]:
    evidence = Evidence({}, record(trial))
    return {metric.name.removeprefix("connections_"): float(metric.compute(evidence)) for metric in SESSIONS}


def test_every_connection_is_counted_once() -> None:
    """Full, resumed, with 0-RTT data that were accepted or rejected, or given up."""
    counts = _counts({"proof": {"answers": _ANSWERS}})
    wanted = {"full": 1, "resumed": 1, "early_data_accepted": 2, "early_data_rejected": 1, "given_up": 1}
    assert counts == wanted


def test_an_answer_that_stayed_closed_is_not_guessed() -> None:
    """It could be either."""
    with pytest.raises(Unknown, match="stayed closed"):
        _counts({"proof": {"answers": [{"resumed": True, "early_data": None}]}})


def test_without_decrypted_packets_nothing_is_told() -> None:
    """The proof then holds a word instead of the answers."""
    with pytest.raises(Unknown, match="not decrypted"):
        _counts({"proof": {"answers": "unproven"}})
