# SPDX-License-Identifier: Apache-2.0
"""Objects: the right size, the same for the same seed, and incompressible."""

from __future__ import annotations

import zlib

from quiclab.lab.workloads import build_site
from quiclab.model.study import Workload
from quiclab.model.units import ByteCount


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


def test_objects_differ_in_content_though_not_in_size() -> None:
    """One that is delivered in another's place is found out."""
    site = build_site(Workload("x", ByteCount(1000), count=3), 1)
    assert site.requests == tuple(site.files) == ("x~1", "x~2", "x~3")
    assert {len(content) for content in site.files.values()} == {1000}
    assert len(set(site.files.values())) == 3


def test_mixed_objects_have_their_sizes_in_order() -> None:
    """As the spec lists them."""
    site = build_site(Workload("x", sizes=(ByteCount(7), ByteCount(0), ByteCount(70))), 1)
    assert [len(site.files[name]) for name in site.requests] == [7, 0, 70]


def test_a_single_object_is_the_same_however_it_is_counted() -> None:
    """Name and content."""
    assert build_site(Workload("x", ByteCount(9), count=1), 1) == build_site(Workload("x", ByteCount(9)), 1)
