# SPDX-License-Identifier: Apache-2.0
"""How fast a jitter that keeps the order may vary (docs/decisions/0009-jitter-in-order.md)."""

from __future__ import annotations

from quiclab.spec.network import Jitter
from quiclab.units import Duration

LEAST_IN_SCALES = {"uniform": 0.7, "normal": 0.85, "pareto": 2.2, "paretonormal": 1.4}
"""Shortest half-life in scales, by distribution: at it the delay falls as fast as time passes, at most."""
USUAL_IN_SCALES = 4
"""Half-life in scales where none is asked for."""
_LEAST = Duration(10_000)


def half_life(jitter: Jitter) -> Duration:
    """Half-life of a jitter that keeps the order: the one asked for, or the usual one."""
    if jitter.half_life is not None:
        return jitter.half_life
    return max(Duration(USUAL_IN_SCALES * jitter.scale.ns), _LEAST, key=lambda each: each.ns)


def least_half_life(jitter: Jitter) -> Duration:
    """Shortest half-life of a jitter: a shorter one would reorder packets, or shift the delay."""
    least = Duration(round(LEAST_IN_SCALES[jitter.distribution] * jitter.scale.ns))
    return max(least, _LEAST, key=lambda each: each.ns)
