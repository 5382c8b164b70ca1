# SPDX-License-Identifier: Apache-2.0
"""Putting together what comes in pieces."""

from __future__ import annotations

import random
from itertools import pairwise

from quiclab.verify._reassembly import LIMIT_BYTES, Reassembly


def test_any_cover_of_a_stream_gives_the_stream():
    """Random overlapping pieces in random order, until everything has come."""
    rng = random.Random(5)
    stream = rng.randbytes(500)
    for _ in range(200):
        cuts = [0, *sorted(rng.sample(range(1, 500), 6)), 500]
        pieces = [(max(0, start - rng.randint(0, 40)), end) for start, end in pairwise(cuts)]
        pieces += rng.sample(pieces, 3)
        rng.shuffle(pieces)
        reassembly = Reassembly()
        for start, end in pieces:
            reassembly.add(start, stream[start:end])
            assert stream.startswith(bytes(reassembly.front))
        assert reassembly.front == stream


def test_a_gap_is_waited_for():
    """Nothing behind a gap is readable before the gap is closed."""
    reassembly = Reassembly()
    reassembly.add(3, b"def")
    assert reassembly.front == b""
    reassembly.add(0, b"abc")
    assert reassembly.front == b"abcdef"


def test_nothing_beyond_the_limit_is_kept():
    """Far pieces, such as those of a wrong sequence number, take no memory."""
    reassembly = Reassembly()
    reassembly.add(1 << 31, b"x" * 1000)
    reassembly.add(0, b"y" * (LIMIT_BYTES + 5))
    assert len(reassembly.front) == LIMIT_BYTES
    assert not reassembly._waiting
