# SPDX-License-Identifier: Apache-2.0
"""The laboratory's share in a trial's time makes it void beyond what the study tolerates."""

from __future__ import annotations

from typing import Any

import pytest
from trial_records import record

from quiclab.evidence.verify.disturbed import disturbance_problem

MS = 1_000_000


def _document(
    cost_ms: float, tolerated: float = 0.01, failure: str | None = None, by: str = "account"
) -> dict[str, Any]:
    link_ns, client_ns = round(0.3 * cost_ms * MS), round(0.7 * cost_ms * MS)
    parts = {"link": {"cost_ns": link_ns, "most_ns": link_ns}, "client": {"cost_ns": client_ns, "most_ns": client_ns}}
    disturbance = {"time_ns": 100 * MS, "cost_ns": link_ns + client_ns, "parts": parts, "by": by}
    return {"tolerated": tolerated, "disturbance": disturbance, "own_failure": failure}


@pytest.mark.parametrize(
    ("document", "is_void"),
    [
        (_document(1), False),
        (_document(1.1), True),
        (_document(4, tolerated=0.05), False),
        (_document(100, tolerated=1), False),
        (_document(9, by="bound"), False),
        (_document(11, by="bound"), True),
        (_document(19, failure="the client crashed"), False),
        (_document(21, failure="the client crashed"), True),
        (_document(21, tolerated=0.3, failure="the client crashed"), False),
        ({"tolerated": 0.01, "disturbance": None, "own_failure": None}, False),
        ({"own_failure": None}, False),
    ],
)
def test_what_is_too_much(document: dict[str, Any], is_void: bool) -> None:
    """A share of the trial's own time; a failure is blamed on the laboratory only for a fifth of it and more."""
    assert (disturbance_problem(record(document)) is not None) is is_void


def test_the_reason_names_what_added_most() -> None:
    """The reason has the time and the share."""
    told = disturbance_problem(record(_document(12)))
    assert told is not None
    assert "added 12.0 ms (12.0 %)" in told
    assert "the client waited for a processor" in told
