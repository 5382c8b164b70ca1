# SPDX-License-Identifier: Apache-2.0
"""States of senders' congestion control: the time in each, and what follows which, over one or more trials."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures import _quic_states, _tcp_states
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import start_ns

NOT_TOLD = "unknown"
"""State of a sender about which neither a log nor a sample says anything."""
Span = tuple[str, float]
"""A state, and when it began: since the client's first packet, ms."""


@dataclass(frozen=True)
class _SenderStates:
    """States of the sender in one trial."""

    spans: list[Span]
    end_ms: float
    missed_ms: float | None
    """The interval of samples, within which states are missed; None where a log tells of every change."""


def about(told: list[_SenderStates]) -> dict[str, dict[str, object]]:
    """Return each state of an arm with its share of all trials' time, its visits, and how many trials tell of it.

    The state that was entered most often comes first.
    """
    shares = _shares(told)
    visits = Counter(state for each in told for state, _ in each.spans)
    missed_ms = max((each.missed_ms for each in told if each.missed_ms is not None), default=None)
    return {
        state: {
            "state": state, "share_pct": shares[state], "visits": count, "trials": len(told), "missed_ms": missed_ms,
        }
        for state, count in visits.most_common()
    }  # fmt: skip


def told_by_arm(asked: Asked) -> dict[str, list[_SenderStates]]:
    """Return the trials of each arm that have a time; nothing where no sender at all tells of itself."""
    known = asked.study.metrics.filter((pl.col("name") == "ttlb_ms") & pl.col("value").is_finite())
    times_ms = dict(known.select("trial_id", "value").iter_rows())
    bounds = {arm.name: arm.front.knobs.max_window_bytes for arm in asked.files.spec.arms}
    found = {
        arm: [
            told
            for trial_id in trial_ids
            if (told := _sender_states(asked.study, trial_id, times_ms.get(trial_id), bounds.get(arm))) is not None
        ]
        for arm, trial_ids in asked.trials_by_arm().items()
    }
    return found if any(each.spans[0][0] != NOT_TOLD for told in found.values() for each in told) else {}


def _sender_states(
    study: OpenedStudy, trial_id: str, end_ms: float | None, most_bytes: int | None
) -> _SenderStates | None:
    zero_ns = start_ns(study, trial_id)
    if zero_ns is None or end_ms is None:
        return None
    missed_ms: float | None
    spans, missed_ms = _tcp_states.spans(study, trial_id, zero_ns)
    if not spans:
        missed_ms = None
        spans = _quic_states.spans(study, trial_id, zero_ns, most_bytes)
    spans = [(state, begin) for state, begin in spans if begin < end_ms]
    return _SenderStates(merged([("init", 0.0), *spans]) if spans else [(NOT_TOLD, 0.0)], end_ms, missed_ms)


def merged(spans: list[Span]) -> list[Span]:
    """Spans without those of a state in which the sender was already, and without states of no length."""
    kept: list[Span] = []
    for state, begin in spans:
        if kept and kept[-1][1] >= begin:
            kept.pop()
        if not kept or kept[-1][0] != state:
            kept.append((state, begin))
    return kept


def _shares(told: list[_SenderStates]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for each in told:
        for (state, begin), (_, end) in pairwise([*each.spans, ("", each.end_ms)]):
            spent[state] = spent.get(state, 0.0) + max(0.0, end - begin)
    total = sum(spent.values())
    return {state: 100 * time / total if total else 0.0 for state, time in spent.items()}


def follows(told: list[_SenderStates]) -> dict[str, list[tuple[str, float]]]:
    """State → what followed it, and in how many per cent of the times that it was left."""
    counts: dict[str, Counter[str]] = {state: Counter() for each in told for state, _ in each.spans}
    for each in told:
        for (state, _), (after, _) in pairwise(each.spans):
            counts[state][after] += 1
    return {
        state: [(after, 100 * count / counter.total()) for after, count in counter.most_common()]
        for state, counter in counts.items()
    }
