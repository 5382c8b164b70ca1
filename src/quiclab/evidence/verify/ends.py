# SPDX-License-Identifier: Apache-2.0
"""Ends that were stopped during a trial, which then measures that.

A program in a jail cannot stop itself, nor can another: it is the first process of a PID namespace. Its children it can
stop, and they one another, so that such a stop is its own affair.

Decision 4 (docs/decisions/0004-how-late-is-too-late.md) has what is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def ends_problem(document: dict[str, Any]) -> str | None:
    """Say which of client, server and proxy was stopped from outside; None where none was."""
    for role, stood in _stood_still(document):
        if stood.get("number"):
            return f"the {role} was stopped from outside for {stood['stopped_ns'] / 1e6:.1f} ms"
    return None


def children_problem(document: dict[str, Any]) -> str | None:
    """Say whose child was stopped, which only its own program can be counted on to do; None where none was."""
    stopped = (role for role, stood in _stood_still(document) if stood.get("looks_at_children"))
    role = next(stopped, None)
    return role and f"a process that the {role} had started was stopped"


def _stood_still(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
    costs: dict[str, dict[str, Any]] = document["host"].get("cost") or {}
    return ((role, cost.get("stood_still") or {}) for role, cost in costs.items())
