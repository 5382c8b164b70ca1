# SPDX-License-Identifier: Apache-2.0
"""Ends that stood still or waited make a trial void."""

from __future__ import annotations

from typing import Any

import pytest

from quiclab.verify.ends import ends_problem

MS = 1_000_000


def _document(transfer_ms: float = 100, bound_ms: float = 0.1, slow: bool = False, **cost: Any) -> dict[str, Any]:
    return {
        "time_ns": {"transfer": round(transfer_ms * MS)},
        "lateness_bound_ns": round(bound_ms * MS),
        "host": {"cost": {"server": cost}, "slow_cpu": {"server": {}} if slow else {}},
    }


def _delay(ms: float, turns: int = 0) -> dict[str, int]:
    return {"sum_ns": round(2 * ms * MS), "longest_ns": round(ms * MS), "longest_turns": turns}


def _ran(ms: float) -> dict[str, int]:
    return {"cpu_ns": round(ms * MS)}


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (_document(), None),
        (_document(run_delay=_delay(20)), None),
        (_document(run_delay=_delay(20.1)), "the server waited 20.1 ms for a processor"),
        (_document(run_delay=_delay(24, 1000), transfer=_ran(40)), None),
        (_document(run_delay=_delay(24, 199), transfer=_ran(40)), "the server waited 24.0 ms for a processor"),
        (_document(run_delay=_delay(40.1, 1000), transfer=_ran(30)), "the server waited 40.1 ms for a processor"),
        (_document(run_delay=_delay(24, 1000), transfer=_ran(56.1)), "the server waited 24.0 ms for a processor"),
        (_document(run_delay=_delay(24, 1000)), "the server waited 24.0 ms for a processor"),
        (_document(10, run_delay=_delay(4.9)), None),
        (_document(10, run_delay=_delay(5.1)), "bound 5.0 ms"),
        (_document(bound_ms=500, run_delay=_delay(90)), None),
        (_document(slow=True, run_delay=_delay(90)), None),
        (_document(run_delay=_delay(90), most_processes=5), None),
        (_document(run_delay={"sum_ns": None, "longest_ns": None}), None),
        (_document(stood_still={"number": 1, "stopped_ns": 700 * MS}), "stopped from outside for 700.0 ms"),
        (_document(slow=True, stood_still={"number": 1, "stopped_ns": 0}), "stopped from outside"),
        (_document(stood_still={"number": 0, "stopped_ns": 0, "looks_at_children": 1}), "a process of the server"),
        ({"host": {}}, None),
    ],
)
def test_what_is_too_long(document: dict[str, Any], told: str | None) -> None:
    """The largest of 5 ms, a fifth of the transfer, and what the spec allows; not short waits of many turns, where the
    program has time to spare. A stop is always too long."""
    problem = ends_problem(document)
    assert problem is None if told is None else told in str(problem)
