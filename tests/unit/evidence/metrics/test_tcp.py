# SPDX-License-Identifier: Apache-2.0
"""Sequence numbers."""

from __future__ import annotations

import random

import numpy as np

from quiclab.evidence.metrics.tcp import unwrap


def test_numbers_unwrap_beyond_two_rounds() -> None:
    """Ten gigabytes with retransmissions, as offsets from the initial sequence number."""
    rng = random.Random(1)
    origin = 4_000_000_000
    offsets, offset = [], 0
    while offset < 10**10:
        offset += rng.randrange(2**30)
        offsets += [offset, offset - rng.randrange(min(offset, 2**20) + 1)]
    numbers = np.array([(origin + offset) % 2**32 for offset in offsets], dtype=np.int64)
    assert unwrap(numbers, origin).tolist() == offsets
