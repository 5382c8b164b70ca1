# SPDX-License-Identifier: Apache-2.0
"""Spells: neighbours with one reason are one stretch, and nothing of the time is lost."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.model.tables import TABLES
from quiclab.why.account import spells


def account(*edges: tuple[str, str, int], **columns: list[Any]) -> pl.DataFrame:
    """Edges of (why, what, ms), from 1 s on."""
    ends = [1_000_000_000]
    for _, _, ms in edges:
        ends.append(ends[-1] + ms * 1_000_000)
    told = {
        "of": ["ttlb"] * len(edges),
        "why": [why for why, _, _ in edges],
        "what": [what for _, what, _ in edges],
        "from_ns": ends[:-1],
        "until_ns": ends[1:],
        "evidence": ["link_packets"] * len(edges),
        **columns,
    }
    schema = TABLES["account"].schema()
    return pl.DataFrame({name: pl.Series(told.get(name, [None] * len(edges)), dtype=schema[name]) for name in schema})


def test_neighbours_with_one_reason_are_one_spell() -> None:
    """The longest of what passes comes first; packets of headers are those of their payload; an event is kept."""
    found = spells(
        account(
            ("link_busy", "payload", 6), ("link_busy", "headers", 1), ("window", "propagation_down", 3),
            ("window", "propagation_up", 9), ("link_busy", "payload", 2),
            packets=[5, 5, None, None, 1], event_packet=[None, None, 7, None, None],
        )
    )  # fmt: skip
    assert found.select("why", "what", "edge", "edges", "packets", "event_packet").rows() == [
        ("link_busy", "payload, headers", 0, 2, 5, None),
        ("window", "propagation_up, propagation_down", 2, 2, 0, 7),
        ("link_busy", "payload", 4, 1, 1, None),
    ]
    assert found["from_ns"].to_list()[1:] == found["until_ns"].to_list()[:-1]
    assert (found["until_ns"] - found["from_ns"]).sum() == 21_000_000


def test_no_account_has_no_spell() -> None:
    """The columns are there all the same."""
    assert spells(account()).columns == spells(account(("request", "server", 1))).columns
