# SPDX-License-Identifier: Apache-2.0
"""The states of the sender's congestion control in single trials: how much time in each, and what follows which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from quiclab.opened import OpenedStudy
from quiclab.report import quic_states, tcp_states
from quiclab.report.series import start_ns
from quiclab.report.study import read_json

STATES = {
    **dict.fromkeys(("arm", "state", "next"), pl.String),
    "share_pct": pl.Float64,
    "visits": pl.Int64,
    "sampled": pl.Boolean,
    "missed_ms": pl.Float64,
}
TRANSITIONS = {
    **dict.fromkeys(("arm", "state", "next"), pl.String),
    **dict.fromkeys(("share_pct", "probability_pct", "missed_ms"), pl.Float64),
    "visits": pl.Int64,
}
NOT_TOLD = "not told"
"""The state of a sender of which there is neither a log nor a sample."""
Span = tuple[str, float]
"""A state, and when it began: since the client's first packet, ms."""


def states(study: OpenedStudy, trials: Mapping[str, str], times_ms: Mapping[str, float]) -> pl.DataFrame:
    """One row per arm and state, up to the transfer's end (`times_ms`: trial → its time)."""
    rows: list[dict[str, object]] = []
    for arm, spans, end_ms, missed_ms in _each(study, trials, times_ms):
        shares, follows = _shares(spans, end_ms), _follows(spans)
        rows += [
            {
                "arm": arm,
                "state": state,
                "share_pct": shares[state],
                "visits": visits,
                "next": ", ".join(f"{after} {share:.0f} %" for after, share in follows[state]) or "nothing",
                "sampled": missed_ms is not None,
                "missed_ms": missed_ms,
            }
            for state, visits in Counter(state for state, _ in spans).most_common()
        ]
    return pl.DataFrame(rows, schema=STATES)


def state_machine(study: OpenedStudy, trials: Mapping[str, str], times_ms: Mapping[str, float]) -> pl.DataFrame:
    """One row per arm, state and state that followed it; `next` is null where none did."""
    rows: list[dict[str, object]] = []
    for arm, spans, end_ms, missed_ms in _each(study, trials, times_ms):
        shares, follows = _shares(spans, end_ms), _follows(spans)
        for state, visits in Counter(state for state, _ in spans).items():
            about = {"arm": arm, "state": state, "share_pct": shares[state], "visits": visits, "missed_ms": missed_ms}
            after: list[tuple[str | None, float | None]] = [*follows[state]] or [(None, None)]
            rows += [about | {"next": name, "probability_pct": share} for name, share in after]
    return pl.DataFrame(rows, schema=TRANSITIONS)


def _each(
    study: OpenedStudy, trials: Mapping[str, str], times_ms: Mapping[str, float]
) -> list[tuple[str, list[Span], float, float | None]]:
    """(arm, its states in order, the transfer's end, the interval of samples within which states are missed)."""
    bounds = {arm["name"]: _most(arm) for arm in read_json(study.directory / "resolved.json", []).get("arms") or ()}
    found = []
    for arm, trial_id in trials.items():
        zero_ns, end_ms = start_ns(study, trial_id), times_ms.get(trial_id)
        if zero_ns is None or end_ms is None:
            continue
        missed_ms: float | None
        spans, missed_ms = tcp_states.spans(study, trial_id, zero_ns)
        if not spans:
            missed_ms = None
            spans = quic_states.spans(study, trial_id, zero_ns, bounds.get(arm))
        spans = [(state, begin) for state, begin in spans if begin < end_ms]
        told = merged([("init", 0.0), *spans]) if spans else [(NOT_TOLD, 0.0)]
        found.append((arm, told, end_ms, missed_ms))
    return found if any(spans[0][0] != NOT_TOLD for _, spans, _, _ in found) else []


def _most(arm: Mapping[str, Any]) -> int | None:
    """The largest window that the spec allows an arm's sender over QUIC, in bytes."""
    sender = arm.get("proxy") or arm.get("server") or {}
    most_bytes = (sender.get("knobs") or {}).get("max_window")
    return most_bytes if isinstance(most_bytes, int) else None


def merged(spans: list[Span]) -> list[Span]:
    """Without the beginnings of a state in which the sender was already, and without states of no length."""
    kept: list[Span] = []
    for state, begin in spans:
        if kept and kept[-1][1] >= begin:
            kept.pop()
        if not kept or kept[-1][0] != state:
            kept.append((state, begin))
    return kept


def _shares(spans: list[Span], end_ms: float) -> dict[str, float]:
    spent: Counter[str] = Counter()
    for (state, begin), (_, end) in zip(spans, [*spans[1:], ("", end_ms)], strict=True):
        spent[state] += max(0.0, end - begin)  # type: ignore[assignment]
    total = sum(spent.values())
    return {state: 100 * time / total if total else 0.0 for state, time in spent.items()}


def _follows(spans: list[Span]) -> dict[str, list[tuple[str, float]]]:
    """State → what followed it, and in how many per cent of the times that it was left."""
    counts: dict[str, Counter[str]] = {state: Counter() for state, _ in spans}
    for (state, _), (after, _) in pairwise(spans):
        counts[state][after] += 1
    return {
        state: [(after, 100 * count / counter.total()) for after, count in counter.most_common()]
        for state, counter in counts.items()
    }
