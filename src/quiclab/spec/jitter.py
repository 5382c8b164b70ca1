# SPDX-License-Identifier: Apache-2.0
"""Least half-life of a jitter that keeps the order (docs/decisions/0009-jitter-in-order.md), and the delay it makes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cache

from quiclab.model.network import Jitter
from quiclab.model.units import Duration, Share

LEAST_IN_SCALES = {"uniform": 0.7, "normal": 0.85, "pareto": 2.2, "paretonormal": 1.4}
"""Shortest half-life in scales, by distribution: at it the delay falls as fast as time passes, at most."""
USUAL_IN_SCALES = 4
"""Half-life in scales where none is asked for."""
_LEAST = Duration(10_000)
_QUANTILES = 4096


def half_life(jitter: Jitter) -> Duration:
    """Half-life of a jitter that keeps the order: the one asked for, or the usual one."""
    if jitter.half_life is not None:
        return jitter.half_life
    return max(Duration(USUAL_IN_SCALES * jitter.scale.ns), _LEAST, key=lambda each: each.ns)


def least_half_life(jitter: Jitter) -> Duration:
    """Shortest half-life of a jitter: a shorter one would reorder packets, or shift the delay."""
    least = Duration(round(LEAST_IN_SCALES[jitter.distribution] * jitter.scale.ns))
    return max(least, _LEAST, key=lambda each: each.ns)


@dataclass(frozen=True)
class Realised:
    """One-way delay that packets get where jitter would make some of it negative, which no link can."""

    mean: Duration
    deviation: Duration
    at_zero: Share
    """Share of packets that get none."""


def realised(delay: Duration, jitter: Jitter) -> Realised:
    """Delay that packets get: the distribution of `jitter` around `delay`, cut off at zero."""
    delays = [max(0.0, delay.ns + jitter.scale.ns * quantile) for quantile in _quantiles(jitter.distribution)]
    mean, at_zero = statistics.fmean(delays), sum(each == 0 for each in delays) / len(delays)
    return Realised(Duration(round(mean)), Duration(round(statistics.pstdev(delays, mean))), Share(at_zero))


@cache
def _quantiles(distribution: str) -> tuple[float, ...]:
    """Quantiles of a jitter in scales, as the link has them (crates/link-core/src/distribution.rs)."""
    shares = [(number + 0.5) / _QUANTILES for number in range(_QUANTILES)]
    normal = [statistics.NormalDist().inv_cdf(share) for share in shares]
    pareto = [min(4.0, ((1 - share) ** (-1 / 3) - 1.5) * 4 / 3) for share in shares]
    match distribution:
        case "uniform":
            return tuple(2 * share - 1 for share in shares)
        case "normal":
            return tuple(normal)
        case "pareto":
            return tuple(pareto)
        case _:
            return tuple(0.25 * z + 0.75 * each for z, each in zip(normal, pareto, strict=True))
