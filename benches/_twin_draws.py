# SPDX-License-Identifier: Apache-2.0
"""Cases for the golden twin: drawn at random, and planted with one cause whose effect is exact."""

from __future__ import annotations

import math
import random
from typing import Any

_SEGMENT = 1448


def drawn(rng: random.Random, protocol: str) -> dict[str, Any]:
    """A transfer over a path, with limits that may hold the sender back, one or several."""
    rate = _between(rng, 1e6, 100e6)
    delay_ns = _between(rng, 2e6, 100e6)
    bytes_per_round_trip = rate * 2 * delay_ns // 8_000_000_000
    case: dict[str, Any] = {
        "protocol": protocol,
        "seed": rng.randrange(1 << 32),
        "body_bytes": _between(rng, 30e3, 3e6),
        "rate_down": rate,
        "rate_up": rng.choice([rate, max(rate // 10, 500_000)]),
        "delay_ns": delay_ns,
        "control": rng.choice(["reno", "cubic"]),
        "initial_window": rng.choice([10, 10, 10, 32]),
        "flight_bytes": _between(rng, 800, 3200),
        "loss_at_exit": rng.random() < 0.5,
    }
    if rng.random() < 0.5:
        case["loss_down"] = _between(rng, 1e3, 50e3) / 1e6
    if rng.random() < 0.25:
        case["loss_up"] = _between(rng, 1e3, 30e3) / 1e6
    if rng.random() < 0.5:
        case["queue_bytes"] = max(int(bytes_per_round_trip * rng.uniform(0.3, 2)), 15_000)
    if rng.random() < 0.25:
        case["receive_window"] = _SEGMENT * max(int(bytes_per_round_trip * rng.uniform(0.2, 2)) // _SEGMENT, 10)
    if rng.random() < 0.25:
        case["stream_window"] = max(int(bytes_per_round_trip * rng.uniform(0.2, 2)), 20_000)
    if rng.random() < 0.15:
        case |= {"pause_at": int(case["body_bytes"] * rng.random()), "pause_ns": _between(rng, 20e6, 500e6)}
    if protocol == "h2" and rng.random() < 0.15:
        case["send_buffer"] = _SEGMENT * max(int(bytes_per_round_trip * rng.uniform(0.2, 1.5)) // _SEGMENT, 10)
    if protocol == "h2" and rng.random() < 0.1:
        case["threshold"] = rng.choice([16, 24, 40])
    return case


def _between(rng: random.Random, low: float, high: float) -> int:
    """A whole number whose logarithm is uniform."""
    return round(math.exp(rng.uniform(math.log(low), math.log(high))))
