# SPDX-License-Identifier: Apache-2.0
"""Notes on arms with requests that a browser's HTTP cache answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("far",), failures=frozenset(), voids=frozenset())


def _notes(study: Path, cached: dict[str, float]) -> list[str]:
    """Notes on the cache, where each trial had five requests."""
    metrics = pl.read_parquet(study / "metrics.parquet")
    trials = pl.read_parquet(study / "tables" / "trials.parquet").filter(status="verified")
    rows = [
        {"trial_id": trial_id, "name": name, "value": value, "unit": "", "better": "none", "note": None}
        for trial_id, arm in trials.select("trial_id", "arm").iter_rows()
        for name, value in (("page_requests", 5.0), ("page_requests_from_cache", cached.get(arm, 0.0)))
    ]
    more = pl.DataFrame(rows, metrics.schema)
    pl.concat([metrics, more]).write_parquet(study / "metrics.parquet")
    return [note for note in analyse_study(study).notes if "HTTP cache" in note]


@pytest.mark.parametrize(
    ("cached", "arms", "end"),
    [
        ({}, [], ""),
        ({"h3": 4.0}, ["h3"], "these: its network carried less than that of h2."),
        ({"h2": 4.0, "h3": 4.0}, ["h2", "h3"], "no server saw these."),
    ],
)
def test_requests_that_a_cache_answered_are_told_at_the_answer(
    tmp_path: Path, cached: dict[str, float], arms: list[str], end: str
) -> None:
    """Each arm with a cache has a sentence, which names the arms that fetched everything."""
    found = _notes(write_study(tmp_path, SHAPE), cached)
    assert [note.partition(" requests of ")[2].partition(",")[0] for note in found] == arms
    assert all(note.endswith(end) for note in found)
