# SPDX-License-Identifier: Apache-2.0
"""Cases drawn from a seed: two arms over a network, and what is planted in one of them; the same seed, the same."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from planted import BY_NAME, CAUSES, Cause, Path

PAIRS = 10
Kind = Literal["one", "two", "none"]
Logs = Literal["captures", "state", "own_word"]


@dataclass(frozen=True)
class Plan:
    """One case, before it has run."""

    name: str
    """Seed and number."""
    kind: Kind
    """Number of causes that are planted."""
    causes: tuple[str, ...]
    protocols: tuple[str, str]
    """Transport of the arm without the causes, and of the planted one."""
    planted_first: bool
    """The planted arm is the baseline."""
    logs: Logs
    base: dict[str, Any]
    """Settings of both arms."""
    planted: tuple[dict[str, Any], ...]
    """Settings of each cause in the planted arm."""
    without: tuple[dict[str, Any], ...]
    """Settings in the place of each cause without it."""
    drops: tuple[int, ...]
    """Packets that are lost, counted from the end of the response."""
    blocks: tuple[dict[str, Any], ...]
    """Settings that differ from pair to pair."""
    reactions: tuple[tuple[int, int], ...]
    """Time that the endpoints of each trial take to react: of the arm without causes, of the planted one."""


def plans(seed: int, number: int) -> list[Plan]:
    """The cases of a seed: of ten six have one cause, one two, three none."""
    found = []
    for at in range(number):
        kind: Kind = "two" if at % 10 == 6 else "none" if at % 10 > 6 else "one"
        found.append(_plan(random.Random(f"{seed}/{at}"), f"{seed}/{at}", kind, at))
    return found


def digest(cases: Sequence[Plan]) -> str:
    """A hash of all that is drawn: cases that were frozen are not changed unnoticed."""
    return hashlib.sha256(json.dumps([asdict(each) for each in cases], sort_keys=True).encode()).hexdigest()


def _plan(rng: random.Random, name: str, kind: Kind, at: int) -> Plan:
    path = _path(rng)
    base = _base(rng, path)
    causes = _causes(rng, kind, at)
    protocol, other = _protocols(rng, causes)
    drawn = [cause.draw(rng, path) for cause in causes]
    for each in drawn:
        base |= each.both
        base |= {key: value for key, value in each.without.items() if key in base and key not in each.both}
    if not causes:
        base |= _limits(rng, path)
    return Plan(
        name,
        kind,
        tuple(cause.name for cause in causes),
        (other, protocol),
        rng.random() < 0.5,
        _logs(rng),
        base,
        tuple(dict(each.planted) for each in drawn),
        tuple(dict(each.without) for each in drawn),
        tuple(place for cause in causes for place in cause.drops_from_end),
        tuple({"delay_ns": round(path.delay_ns * rng.uniform(0.98, 1.02))} for _ in range(PAIRS)),
        tuple((rng.randrange(10_000, 60_000), rng.randrange(10_000, 60_000)) for _ in range(PAIRS)),
    )


def _path(rng: random.Random) -> Path:
    return Path(_between(rng, 2e6, 50e6), _between(rng, 4e6, 80e6), _between(rng, 100e3, 1.2e6))


def _base(rng: random.Random, path: Path) -> dict[str, Any]:
    base: dict[str, Any] = {
        "body_bytes": path.body_bytes,
        "rate_down": path.rate,
        "rate_up": rng.choice([path.rate, max(path.rate // 10, 500_000)]),
        "control": rng.choice(["reno", "cubic"]),
        "initial_window": rng.choice([10, 10, 32]),
        "flight_bytes": 1200,
        "loss_at_exit": rng.random() < 0.5,
        "loss_down": 0.0,
        "queue_bytes": None,
    }
    if rng.random() < 0.3:
        base["loss_down"] = rng.choice([0.001, 0.003, 0.01])
    if rng.random() < 0.4:
        base["queue_bytes"] = max(30_000, int(path.held_bytes * rng.uniform(0.7, 3)))
    return base


def _limits(rng: random.Random, path: Path) -> dict[str, Any]:
    """Limits of arms that are the same in both: time is lost, and neither arm loses more."""
    found: dict[str, Any] = {}
    if rng.random() < 0.4:
        found["loss_down"] = rng.choice([0.005, 0.01, 0.03])
    if rng.random() < 0.3:
        found["stream_window"] = max(20_000, int(path.held_bytes * rng.uniform(0.3, 1.2)))
    if rng.random() < 0.3:
        found |= {"pause_at": path.body_bytes // 2, "pause_ns": 50_000_000}
    if rng.random() < 0.3:
        found |= {"reorder": 0.02, "reorder_ns": int(path.round_trip_ns * 0.1)}
    return found


def _causes(rng: random.Random, kind: Kind, at: int) -> list[Cause]:
    """Causes in turns, so that all come as often."""
    if kind == "none":
        return []
    first = CAUSES[(at // 10 * 6 + at % 10) % len(CAUSES)] if kind == "one" else rng.choice(CAUSES)
    if kind == "one":
        return [first]
    fits = [each for each in CAUSES if _both(first, each)]
    return [first, rng.choice(fits)]


_NOT_TOGETHER = {"loss", "tail lost", "handshake packet lost", "halving instead of 0.7", "reordering taken for loss",
                 "acknowledgments lost", "short queue", "competing flow"}  # fmt: skip
_PROGRAMS = {"trickling program", "pausing program", "slow server"}


def _both(one: Cause, other: Cause) -> bool:
    """True if two causes can be planted at once: by different keys, for one protocol, without a common mechanism."""
    alike = one.name == other.name or set(one.mechanisms) & set(other.mechanisms)
    paths = {one.name, other.name} <= _NOT_TOGETHER or {one.name, other.name} <= _PROGRAMS
    return not alike and not paths and bool(set(one.protocols) & set(other.protocols))


def _protocols(rng: random.Random, causes: Sequence[Cause]) -> tuple[str, str]:
    able = [each for each in ("h2", "h3") if all(each in cause.protocols for cause in causes)]
    protocol = rng.choice(able)
    same = not causes or rng.random() < 0.6
    return protocol, protocol if same else {"h2": "h3", "h3": "h2"}[protocol]


def _logs(rng: random.Random) -> Logs:
    logs: list[Logs] = ["own_word", "own_word", "state", "state", "captures"]
    return rng.choice(logs)


def _between(rng: random.Random, low: float, high: float) -> int:
    """A whole number whose logarithm is uniform."""
    return round(math.exp(rng.uniform(math.log(low), math.log(high))))


def mechanisms(plan: Plan) -> list[tuple[str, ...]]:
    """The mechanisms that name each of its causes."""
    return [BY_NAME[name].mechanisms for name in plan.causes]
