# SPDX-License-Identifier: Apache-2.0
"""Ends that stood still make a trial void."""

from __future__ import annotations

from typing import Any

import pytest
from trial_records import record

from quiclab.evidence.verify.trial import children_problem, ends_problem

MS = 1_000_000


def _document(**cost: Any) -> dict[str, Any]:
    return {"host": {"cost": {"client": {}, "server": cost}}}


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (_document(), None),
        (_document(run_delay={"longest_ns": 90 * MS}), None),
        (_document(stood_still={"number": 0, "stopped_ns": 0}), None),
        (_document(stood_still={"number": 1, "stopped_ns": 700 * MS}), "stopped from outside for 700.0 ms"),
        (_document(stood_still={"number": 0, "stopped_ns": 0, "looks_at_children": 1}), None),
        ({"host": {}}, None),
    ],
)
def test_what_is_a_stop(document: dict[str, Any], told: str | None) -> None:
    """However short; waits for a processor are judged by what they cost."""
    problem = ends_problem(record(document))
    assert problem is None if told is None else told in str(problem)


def test_a_child_that_was_stopped_is_its_programs_own_affair() -> None:
    """No other program of the trial can do it; the program itself could, to have the trial repeated."""
    stood = {"number": 0, "stopped_ns": 0, "looks_at_children": 2}
    assert children_problem(record(_document(stood_still=stood))) == "a process that the server had started was stopped"
    assert children_problem(record(_document(stood_still={"number": 1, "stopped_ns": 5}))) is None
