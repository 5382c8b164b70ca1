# SPDX-License-Identifier: Apache-2.0
"""One object, downloaded once on a new connection."""

from __future__ import annotations

import random
import string

from quiclab.spec.model import Workload
from quiclab.workloads._api import Site

_WORDS = 4096
"""Of two to nine letters, with a blank behind each: at least three bytes."""


class Object:
    """Random bytes, which nothing on the way can compress, or words drawn from a list, which compress as prose does."""

    kind = "object"

    def build(self, workload: Workload, seed: int) -> Site:
        """One file that carries the workload's name."""
        source = random.Random(f"{seed}/{workload.name}")  # noqa: S311
        size = workload.size.bytes
        content = source.randbytes(size) if workload.content == "random" else _text(source, size)
        return Site(files={workload.name: content}, requests=(workload.name,))


def _text(source: random.Random, size: int) -> bytes:
    words = ["".join(source.choices(string.ascii_lowercase, k=source.randint(2, 9))) + " " for _ in range(_WORDS)]
    return "".join(source.choices(words, k=size // 3 + 1))[:size].encode()
