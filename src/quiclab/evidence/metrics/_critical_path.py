# SPDX-License-Identifier: Apache-2.0
"""The critical path of a page's load: the chain of requests, each because of the one before, that ends last."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Step:
    """One request of the chain."""

    url: str
    start_ns: int
    end_ns: int


def critical_path(requests: pl.DataFrame) -> list[Step]:
    """Return the requests from the document to the one that ends last, by the column `initiator`.

    Rows that have not ended are left out. A request without a known cause was caused by the document.
    """
    steps = {
        url: Step(url, start_ns, end_ns)
        for url, start_ns, end_ns in requests.drop_nulls(["url", "last_byte_ns"])
        .select("url", pl.coalesce("send_start_ns", "time_ns"), "last_byte_ns")
        .iter_rows()
    }
    because = dict(requests.select("url", "initiator").iter_rows())
    if not steps:
        return []
    document = next(iter(steps.values()))
    step: Step | None = max(steps.values(), key=lambda each: each.end_ns)
    chain: list[Step] = []
    while step is not None and step not in chain:
        chain.insert(0, step)
        step = None if step is document else steps.get(because.get(step.url) or "", document)
    return chain
