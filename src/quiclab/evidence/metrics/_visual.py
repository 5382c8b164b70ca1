# SPDX-License-Identifier: Apache-2.0
"""Visible progress of a page over time: visual progress by colour histograms, and the Speed Index over it.

As speedline, which Lighthouse uses, defines them: a frame's progress is the part of the change from a white page to the
last frame's histogram that it has done. Speed Index is the area above progress. docs/decisions/0008-speed-index.md
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WHITE = 249
"""A pixel is white if all its channels have this value or more."""


@dataclass(frozen=True)
class Seen:
    """One screenshot."""

    since_ms: float
    """Time of the screenshot in ms after navigation start."""
    progress: float
    """Visual progress, from 0 to 1."""


def visual_progress(screenshots: Sequence[tuple[float, bytes]]) -> list[Seen]:
    """Progress of each screenshot (ms after navigation start, JPEG or PNG), by the last of them."""
    histograms = [_histogram(image) for _, image in screenshots]
    if not histograms:
        return []
    target = histograms[-1]
    total = int(target.sum())
    return [
        Seen(since_ms, float(np.minimum(each, target).sum() / total) if total else 1.0)
        for (since_ms, _), each in zip(screenshots, histograms, strict=True)
    ]


def speed_index(seen: Sequence[Seen]) -> float:
    """Mean time in ms at which the visible parts of the page appear."""
    index = before = done = 0.0
    for each in seen:
        index += (each.since_ms - before) * (1 - done)
        before, done = each.since_ms, each.progress
    return index


def last_change(seen: Sequence[Seen]) -> float:
    """Return when the page last changed visibly, in ms after navigation start."""
    changed = 0
    for number in range(1, len(seen)):
        if seen[number].progress != seen[number - 1].progress:
            changed = number
    return seen[changed].since_ms


def _histogram(image: bytes) -> NDArray[np.int64]:
    """Pixels by value, of each channel; white ones left out."""
    # Imported late: only the metrics of pages need it.
    from PIL import Image

    with Image.open(io.BytesIO(image)) as opened:
        pixels = np.asarray(opened.convert("RGB")).reshape(-1, 3)
    coloured = pixels[(pixels < _WHITE).any(axis=1)]
    return np.stack([np.bincount(coloured[:, channel], minlength=256) for channel in range(3)])
