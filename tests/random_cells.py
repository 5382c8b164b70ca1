# SPDX-License-Identifier: Apache-2.0
"""Cells of two arms whose accounts are drawn at random: parts of time, their causes, and what the records count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.compare.cell_comparison import arm_result, compare
from quiclab.compare.model import Comparison, Metric, TrialResult
from quiclab.why.account import UNIONS, MetricScope, What, Why
from quiclab.why.account_shares import WHATS, WHYS, Shares
from quiclab.why.cause_parts import Known, Member, Pair
from quiclab.why.mechanisms import LOST_ON_THE_PATH, ROUND_TRIP, SENT, TRIAL

STALLS = Metric("stall_ms", "stall time", "ms", lower_is_better=True)
ROUND_TRIP_MS = 20.0
_PARTS: Sequence[Member] = (
    (Why.LINK_BUSY, "bytes_on_the_wire"),
    (Why.SET_UP, "handshake_round_trips"),
    (Why.SLOW_START, "slow_start"),
    (Why.WINDOW, "largest_window"),
    (Why.WINDOW_AFTER_LOSS, "loss_on_the_path"),
    (Why.WINDOW_AFTER_LOSS, "overshoot"),
    (Why.STREAM_CREDIT, "stream_flow_control_limited"),
    (Why.PACING, "pacing"),
    (Why.PACING_OR_PROGRAM, None),
    (Why.LOSS_TIMER, "loss_timer"),
    (Why.UNEXPLAINED, None),
)
"""Parts of an account. Two are of one wait, and two are unions that one arm's records may leave undecided."""
assert Why.PACING_OR_PROGRAM in UNIONS

Facts = Mapping[str, Mapping[str, Mapping[tuple[str, str], float]]]
"""Trial → mechanism → (fact, unit) → value."""


@dataclass(frozen=True)
class Cell:
    """A cell as its tables would have it."""

    comparison: Comparison
    shares: Shares
    known: Known
    pairs: list[Pair]


def cell_of(ms: Mapping[str, Mapping[Member, float]], facts: Facts, pairs: int) -> Cell:
    """The cell of trials `a0`, `a1`, … of one arm and `b0`, `b1`, … of the other."""
    names = [(f"a{block}", f"b{block}") for block in range(pairs)]
    arms = []
    for at, name in enumerate(("h2", "h3")):
        trials = [
            TrialResult(pair[at], block, "verified", sum(ms[pair[at]].values()), "") for block, pair in enumerate(names)
        ]
        arms.append(arm_result(name, trials, pairs, 0, STALLS))
    why = {trial: np.zeros(len(WHYS)) for trial in ms}
    what = {trial: np.zeros(len(WHATS)) for trial in ms}
    for trial, parts in ms.items():
        for (label, _), value in parts.items():
            why[trial][WHYS.index(label)] += value
        what[trial][WHATS.index(What.PAYLOAD)] = sum(parts.values())
    # Stalls have no stages, which would be read from tables.
    shares = Shares(
        why, what, dict.fromkeys(ms, 1e6), {trial: {} for trial in ms}, dict.fromkeys(ms, MetricScope.STALL)
    )
    known = Known(ms, {trial: {} for trial in ms}, facts, {})
    return Cell(compare(("1MB/p", "main", "1MB", "p"), *arms, STALLS, 0.05), shares, known, names)


def random_cell(rng: np.random.Generator, *, alike: bool = False) -> Cell:
    """A cell with 1 to 12 pairs; `alike` has arms that differ by chance alone."""
    pairs = int(rng.integers(1, 13))
    chosen = [part for part in _PARTS if rng.random() < 0.7] or list(_PARTS[:1])
    effects = {part: 0.0 if alike or rng.random() < 0.4 else float(rng.normal(0, 200)) for part in chosen}
    base = {part: float(rng.exponential(300)) for part in chosen}
    noise = {part: float(rng.choice([0.0, 0.5, 20.0, 200.0])) for part in chosen}
    rare = {part: 0.2 if rng.random() < 0.3 else 1.0 for part in chosen}
    heavy = rng.random() < 0.5
    trips = (2, 2) if alike else (2, int(rng.integers(1, 4)))
    ms: dict[str, dict[Member, float]] = {}
    facts: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    for block in range(pairs):
        for at, arm in enumerate("ab"):
            trial = f"{arm}{block}"
            ms[trial] = {}
            for part in chosen:
                if rng.random() > rare[part]:
                    continue
                error = rng.standard_t(2) if heavy else rng.normal()
                value = max(0.0, base[part] + effects[part] * at + noise[part] * error)
                if part[1] == "handshake_round_trips":
                    value = ROUND_TRIP_MS * trips[at] * (1 + 0.02 * rng.random())
                if value:
                    ms[trial][part] = value
            facts[trial] = _facts(rng, ms[trial], trips[at])
    return cell_of(ms, facts, pairs)


def _facts(
    rng: np.random.Generator, parts: Mapping[Member, float], trips: int
) -> dict[str, dict[tuple[str, str], float]]:
    lost, sent = float(rng.poisson(4)), 800.0
    found: dict[str, dict[tuple[str, str], float]] = {
        TRIAL: {(LOST_ON_THE_PATH, "packets"): lost, (SENT, "packets"): sent, (ROUND_TRIP, "ms"): ROUND_TRIP_MS}
    }
    for (_, mechanism), ms in parts.items():
        if mechanism == "handshake_round_trips":
            found[mechanism] = {("round_trips", ""): float(trips)}
        elif mechanism == "bytes_on_the_wire":
            found[mechanism] = {("bytes_served", "bytes"): ms * 1000}
        elif mechanism == "loss_on_the_path":
            found[mechanism] = {("lost_packets", ""): lost, ("sent_packets", ""): sent}
    return found
