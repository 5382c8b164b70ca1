# SPDX-License-Identifier: Apache-2.0
"""How fast a jitter that keeps the order may vary (docs/decisions/0009-jitter-in-order.md)."""

from __future__ import annotations

from quiclab.spec.network import Jitter
from quiclab.units import Duration

LEAST_IN_SCALES = {"uniform": 0.4, "normal": 0.85, "pareto": 2.2, "paretonormal": 1.4}
"""The shortest half-life, by distribution: with it the fastest fall of the delay is as fast as time."""
USUAL_IN_SCALES = 4
"""The half-life where none is asked for."""
_LEAST = Duration(10_000)


def half_life(jitter: Jitter) -> Duration:
    """Of a jitter that keeps the order: as asked, or the usual one."""
    if jitter.half_life is not None:
        return jitter.half_life
    return max(Duration(USUAL_IN_SCALES * jitter.scale.ns), _LEAST, key=lambda each: each.ns)


def least_half_life(jitter: Jitter) -> Duration:
    """Shorter ones would turn packets around, or shift the delay."""
    least = Duration(round(LEAST_IN_SCALES[jitter.distribution] * jitter.scale.ns))
    return max(least, _LEAST, key=lambda each: each.ns)
