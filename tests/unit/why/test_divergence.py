# SPDX-License-Identifier: Apache-2.0
"""Roles of transfers that have more than a set-up, a request and one response."""

from __future__ import annotations

import polars as pl
import pytest

from quiclab.model.tables import TABLES
from quiclab.why.divergence import Role, role_ms

_MS = 1_000_000


def _account(*edges: tuple[str, str, int, int | None]) -> pl.DataFrame:
    """A table of edges of (what, why, ms, bytes) that follow each other."""
    rows, at = [], 0
    for what, why, ms, size_bytes in edges:
        rows.append(
            {"of": "ttlb", "what": what, "why": why, "from_ns": at, "until_ns": at + ms * _MS, "size_bytes": size_bytes}
        )
        at += ms * _MS
    schema = TABLES["account"].schema()
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def test_the_answer_of_an_upload_is_a_role_of_its_own() -> None:
    """The last tenth ends with the last flight of the bodies; all roles add up to the whole."""
    account = _account(
        ("propagation_up", "quic_handshake", 20, None),
        ("client", "request", 5, None),
        ("payload", "link_busy", 100, 1000),
        ("propagation_up", "last_flight", 10, None),
        ("propagation_down", "answer", 12, None),
    )
    found = dict(zip(Role, role_ms(account), strict=True))
    assert (found[Role.SET_UP], found[Role.REQUEST], found[Role.TENTH_1]) == (20, 5, 10)
    assert (found[Role.TENTH_10], found[Role.ANSWER]) == (20, 12)
    assert sum(found.values()) == pytest.approx(147)


def test_bytes_of_every_object_count_for_the_tenths() -> None:
    """Nine tenths of the bytes are another object's: the tenths are as long as if they were one."""
    account = _account(
        ("propagation_up", "quic_handshake", 20, None),
        ("other_object", "link_busy", 90, 900),
        ("payload", "link_busy", 10, 100),
    )
    assert role_ms(account).tolist() == [20, 0, *([10] * 10), 0]


def test_a_limit_within_the_answer_is_no_set_up() -> None:
    """After early data the server goes on when it knows the address: a time of the bytes that come then."""
    account = _account(
        ("client", "quic_handshake", 10, None),
        ("propagation_up", "amplification_limit", 10, None),
        ("payload", "link_busy", 10, 1000),
        ("propagation_up", "amplification_limit", 30, None),
        ("payload", "link_busy", 10, 1000),
    )
    found = dict(zip(Role, role_ms(account), strict=True))
    assert (found[Role.SET_UP], found[Role.TENTH_6]) == (20, 32)
