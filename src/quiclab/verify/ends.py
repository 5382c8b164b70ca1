# SPDX-License-Identifier: Apache-2.0
"""Whether client, server or proxy stood still, or waited for a processor so long that the trial measures that.

Decision 4 (docs/decisions/0004-how-late-is-too-late.md) has the bounds, and what is not seen.
"""

from __future__ import annotations

from typing import Any

LEAST_NS = 5_000_000
"""Longest wait that never voids a trial: about one turn of another program."""
SHARE = 0.2
"""Share of the transfer's time that a thread of an end may wait for a processor."""
GRAIN_NS = 20_000
"""Wait of each turn that delays nothing: a fifth of the least lateness that a link may have."""
_KEEPS_UP = 0.8
"""Share of the transfer's time up to which a program that ran and waited still had time to spare."""
_FEW_PROCESSES = 4
"""Most processes of a program whose waits count: those of a browser wait for one another by design."""


def ends_problem(document: dict[str, Any]) -> str | None:
    """Say in words which end stood still or waited for a processor; None where none did, or nothing was counted."""
    transfer_ns = document.get("time_ns", {}).get("transfer", 0)
    bound_ns = max(LEAST_NS, round(SHARE * transfer_ns), document.get("lateness_bound_ns") or 0)
    for role, cost in (document["host"].get("cost") or {}).items():
        problem = _stopped(role, cost.get("stood_still") or {})
        slow = role in (document["host"].get("slow_cpu") or {})  # the spec asks it to wait
        if problem is None and not slow and cost.get("most_processes", 0) <= _FEW_PROCESSES:
            problem = _waited(role, cost, transfer_ns, bound_ns)
        if problem is not None:
            return problem
    return None


def _stopped(role: str, stood: dict[str, int]) -> str | None:
    if stood.get("number"):
        return f"the {role} was stopped from outside for {stood['stopped_ns'] / 1e6:.1f} ms"
    if stood.get("looks_at_children"):
        return f"a process of the {role} was stopped from outside"
    return None


def _waited(role: str, cost: dict[str, Any], transfer_ns: int, bound_ns: int) -> str | None:
    """Say how long the thread that waited longest did, where that is beyond the bound. Short waits of many turns, as of
    a thread that each packet wakes, are none as long as its program keeps up."""
    delay = cost.get("run_delay") or {}
    longest_ns = delay.get("longest_ns")
    if longest_ns is None or longest_ns <= bound_ns:
        return None
    busy_ns = longest_ns + (cost.get("transfer") or {}).get("cpu_ns", transfer_ns)
    short_ns = GRAIN_NS * (delay.get("longest_turns") or 0)
    if longest_ns - short_ns <= bound_ns and busy_ns <= _KEEPS_UP * transfer_ns:
        return None
    return (
        f"the {role} waited {longest_ns / 1e6:.1f} ms for a processor during the transfer "
        f"(bound {bound_ns / 1e6:.1f} ms): this machine is too busy"
    )
