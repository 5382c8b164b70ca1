# SPDX-License-Identifier: Apache-2.0
"""Jitter that is wider than its delay: what lies below zero is cut off, so packets get another delay than was asked."""

from __future__ import annotations

from collections.abc import Iterator

from quiclab.model.study import Direction, Jitter, Path
from quiclab.model.units import Duration
from quiclab.spec.jitter import realised

MOST_AT_ZERO = 0.01
"""Share of packets without any delay from which on it is told."""


def jitter_warnings(path: Path) -> list[str]:
    """Say what delay packets get where jitter is cut off at zero, a sentence for each link and setting."""
    found: dict[tuple[str, str], list[str]] = {}
    for link in path.links:
        over = f"Path {path.name}" + (f", link {link.name}" if path.more_links else "")
        for side, direction in (("up", link.up), ("down", link.down)):
            for told in cut_off(direction):
                found.setdefault((over, told), []).append(side)
    return [f"{over}, {' and '.join(sides)}: {told}." for (over, told), sides in found.items()]


def cut_off(direction: Direction) -> list[str]:
    """Say so of each setting of a direction, without its place."""
    found = []
    for delay, jitter in _settings(direction):
        real = realised(delay, jitter)
        if real.at_zero.value >= MOST_AT_ZERO:
            asked = f"jitter of {jitter.scale} ({jitter.distribution}) around {delay}"
            cut = f"{real.at_zero.value:.0%} of the delays negative, which are 0 instead"
            got = f"{real.mean.ms:.3g} ms on average, with a standard deviation of {real.deviation.ms:.3g} ms"
            found.append(f"{asked} would make {cut}: packets get {got}")
    return found


def _settings(direction: Direction) -> Iterator[tuple[Duration, Jitter]]:
    """Delay and jitter at the beginning, and from each change on that sets either."""
    delay, jitter = direction.delay, direction.jitter
    if jitter is not None:
        yield delay, jitter
    for change in direction.schedule:
        if change.delay is None and change.jitter is None:
            continue
        delay = delay if change.delay is None else change.delay
        if change.jitter is not None:
            jitter = None if change.jitter == "none" else change.jitter
        if jitter is not None:
            yield delay, jitter
