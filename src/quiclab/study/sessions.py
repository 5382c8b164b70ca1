# SPDX-License-Identifier: Apache-2.0
"""Occasions: stretches of time in which trials of a study ran on one boot of one machine, without a long pause.

What all trials of an occasion share (temperature, neighbours, what the kernel happened to place where) no number of
blocks in it can show. Nobody has to say when a new one begins: another boot, or another machine, has another boot id.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

PAUSE = timedelta(hours=1)
"""Time without a trial after which another occasion begins."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Span:
    """Time in which a trial ran, and the boot that it ran on."""

    began: datetime
    ended: datetime
    boot: str
    """Boot id of the kernel; empty where an earlier version of quiclab did not keep it."""


def span_of(document: Mapping[str, Any]) -> Span | None:
    """Return when a trial ran by its trial.json; None where that does not tell."""
    spent = document.get("time_ns")
    took_ns = sum(each for each in spent.values() if isinstance(each, int)) if isinstance(spent, dict) else 0
    try:
        began = datetime.fromisoformat(str(document.get("started_utc")))
        began = began if began.tzinfo else began.replace(tzinfo=UTC)
        return Span(began, began + timedelta(seconds=took_ns / 1e9), str(document.get("boot_id") or ""))
    except (ValueError, OverflowError):
        return None


def _is_another(boot: str, before: str) -> bool:
    return bool(boot and before) and boot != before


def occasions(spans: Mapping[Key, Span]) -> dict[Key, int]:
    """Number of the occasion of each trial, from 1 in order of time."""
    found: dict[Key, int] = {}
    number, before = 0, None
    for key, span in sorted(spans.items(), key=lambda item: item[1].began):
        if before is None or span.began - before.ended >= PAUSE or _is_another(span.boot, before.boot):
            number += 1
        found[key] = number
        before = span
    return found
