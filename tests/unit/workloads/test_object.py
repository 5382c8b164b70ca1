# SPDX-License-Identifier: Apache-2.0
"""Objects: the right size, the same for the same seed, and incompressible."""

from __future__ import annotations

import zlib

from quiclab.spec.model import Workload
from quiclab.units import ByteCount
from quiclab.workloads import build_site


def test_same_seed_same_content() -> None:
    """Content depends on seed and name alone."""
    workload = Workload("x", ByteCount(10_000))
    assert build_site(workload, 1) == build_site(workload, 1)
    assert build_site(workload, 1) != build_site(workload, 2)


def test_size_and_entropy() -> None:
    """Nothing on the way can make it smaller."""
    site = build_site(Workload("x", ByteCount(100_000)), 1)
    assert site.requests == ("x",)
    assert len(site.files["x"]) == 100_000
    assert len(zlib.compress(site.files["x"])) > 100_000


def test_words_compress() -> None:
    """The same size, in a third to a half of the bytes; again the same for the same seed."""
    workload = Workload("x", ByteCount(100_000), content="text")
    content = build_site(workload, 1).files["x"]
    assert content == build_site(workload, 1).files["x"]
    assert len(content) == 100_000
    assert 25_000 < len(zlib.compress(content)) < 50_000


def test_an_empty_object() -> None:
    """0 KB measures the set-up alone."""
    assert build_site(Workload("x", ByteCount(0)), 1).files == {"x": b""}
