# SPDX-License-Identifier: Apache-2.0
"""One object or several, each downloaded once, on one new connection."""

from __future__ import annotations

import random
import string

from quiclab.lab.workloads._api import Site
from quiclab.model.study import Workload

_WORDS = 4096
"""Number of words in the list; each has two to nine letters and a blank, so at least three bytes."""


class Object:
    """Random bytes, which nothing on the way can compress, or words drawn from a list, which compress as prose does."""

    kind = "object"

    def build(self, workload: Workload, seed: int) -> Site:
        """Make a file for each object, with content of its own, so that one cannot be taken for another."""
        names = workload.object_names
        files = {
            name: _content(workload, f"{seed}/{name}", size.bytes)
            for name, size in zip(names, workload.object_sizes, strict=True)
        }
        return Site(files=files, requests=names)


def _content(workload: Workload, seed: str, size: int) -> bytes:
    source = random.Random(seed)  # noqa: S311
    return source.randbytes(size) if workload.content == "random" else _text(source, size)


def _text(source: random.Random, size: int) -> bytes:
    words = ["".join(source.choices(string.ascii_lowercase, k=source.randint(2, 9))) + " " for _ in range(_WORDS)]
    return "".join(source.choices(words, k=size // 3 + 1))[:size].encode()
