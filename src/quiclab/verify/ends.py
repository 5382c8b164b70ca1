# SPDX-License-Identifier: Apache-2.0
"""Ends that were stopped from outside during a trial, which then measures that.

Decision 4 (docs/decisions/0004-how-late-is-too-late.md) has what is not seen.
"""

from __future__ import annotations

from typing import Any


def ends_problem(document: dict[str, Any]) -> str | None:
    """Say which of client, server and proxy was stopped from outside; None where none was."""
    costs: dict[str, dict[str, Any]] = document["host"].get("cost") or {}
    stopped = (_stopped(role, cost.get("stood_still") or {}) for role, cost in costs.items())
    return next((problem for problem in stopped if problem is not None), None)


def _stopped(role: str, stood: dict[str, int]) -> str | None:
    if stood.get("number"):
        return f"the {role} was stopped from outside for {stood['stopped_ns'] / 1e6:.1f} ms"
    if stood.get("looks_at_children"):
        return f"a process of the {role} was stopped from outside"
    return None
