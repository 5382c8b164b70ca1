# SPDX-License-Identifier: Apache-2.0
"""Waits of bytes that had arrived, to the nanosecond, of pieces written by hand."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from quiclab.evidence.metrics.deliveries import (
    Condition,
    Piece,
    Wait,
    merged_ns,
    waits_over_quic,
    waits_over_tcp,
)


class Told(NamedTuple):
    """One wait, in short."""

    stream_id: int | None
    cause: str
    behind: int | None
    begin_ns: int
    until_ns: int
    overtaken: bool | None = None


def _told(waits: list[Wait]) -> list[Told]:
    return [
        Told(each.piece.stream_id, each.cause, each.behind, each.begin_ns, each.until_ns, each.overtaken)
        for each in waits
    ]


def _over_tcp(*records: list[Piece]) -> list[Told]:
    return _told(list(waits_over_tcp(records)))


A, B = 1, 3


def test_what_lies_behind_a_lost_segment_of_another_stream_waits_for_it() -> None:
    """A, B, A, B in records of their own; the first of A is lost and comes at 107. B waits for it, A for its own."""
    waits = _over_tcp([Piece(A, 100, 107, 4)], [Piece(B, 100, 11, 1)], [Piece(A, 100, 13, 2)], [Piece(B, 100, 17, 3)])
    assert waits == [
        (B, "other_gap", A, 11, 107, False),
        (A, "own_gap", A, 13, 107, False),
        (B, "other_gap", A, 17, 107, False),
    ]


def test_without_a_gap_nothing_waits() -> None:
    """Bytes that come in order, at once or one after the other."""
    assert _over_tcp([Piece(A, 5, 10, 0)], [Piece(B, 5, 10, 1)], [Piece(A, 5, 12, 2)]) == []


def test_a_segment_that_was_overtaken_is_a_gap_for_a_while() -> None:
    """B was sent after A and came 3 ns before it."""
    assert _over_tcp([Piece(A, 5, 13, 0)], [Piece(B, 5, 10, 1)]) == [(B, "other_gap", A, 10, 13, True)]


def test_the_order_of_sending_may_be_unknown() -> None:
    """The wait is the same."""
    assert _over_tcp([Piece(A, 5, 13, None)], [Piece(B, 5, 10, 1)]) == [(B, "other_gap", A, 10, 13, None)]


def test_a_record_cut_in_two_waits_for_its_rest() -> None:
    """The first half waits for the second, which waits for nothing; headers and tags of records do not wait."""
    record = [Piece(A, 0, 10, 0), Piece(A, 100, 10, 0), Piece(A, 60, 25, 1), Piece(A, 0, 25, 1)]
    assert _over_tcp(record) == [(A, "tls_record", None, 10, 25, None)]


def test_a_gap_within_a_record_is_its_owners() -> None:
    """A record of A, B and A; the first part of A comes last. B waits for A, the second of A for its own."""
    record = [Piece(A, 10, 30, 9), Piece(B, 10, 12, 1), Piece(A, 10, 12, 1)]
    assert _over_tcp(record) == [(B, "other_gap", A, 12, 30, False), (A, "own_gap", A, 12, 30, False)]


def test_a_wait_is_its_own_as_long_as_own_bytes_are_missing() -> None:
    """A lacks its own until 20, B's until 30, and the rest of its record until 40."""
    waits = _over_tcp(
        [Piece(A, 10, 20, 7)],
        [Piece(B, 10, 30, 8)],
        [Piece(A, 10, 11, 3), Piece(A, 10, 40, 9)],
    )
    assert waits == [
        (A, "own_gap", A, 11, 20, False),
        (A, "other_gap", B, 20, 30, False),
        (A, "tls_record", None, 30, 40, None),
    ]


def test_the_gap_that_is_closed_last_has_the_whole_wait() -> None:
    """Two gaps in front of B: both are there all the time until the later one is closed."""
    waits = _over_tcp([Piece(A, 1, 50, 5)], [Piece(5, 1, 60, 6)], [Piece(B, 1, 10, 2)])
    assert (B, "other_gap", 5, 10, 60, False) in waits


def test_bytes_of_no_object_are_a_gap_too() -> None:
    """SETTINGS, or the handshake."""
    assert _over_tcp([Piece(None, 30, 22, 4)], [Piece(B, 5, 10, 1)]) == [(B, "other_gap", None, 10, 22, False)]


def test_a_stream_of_quic_waits_for_its_own_gap_alone() -> None:
    """The second of three pieces comes last."""
    waits = _told(list(waits_over_quic([Piece(0, 5, 10, 0), Piece(0, 5, 40, 9), Piece(0, 5, 12, 2)], [])))
    assert waits == [(0, "own_gap", 0, 12, 40, False)]


def test_keys_and_headers_are_waits_behind_others() -> None:
    """Keys come at 20. The header was whole at 10, and can be decoded from 50 on; the last piece waits for nothing."""
    conditions = [Condition("other_gap", 0, 20), Condition("qpack", 10, 50)]
    waits = _told(list(waits_over_quic([Piece(0, 5, 10, 0), Piece(0, 5, 30, 1), Piece(0, 5, 50, 2)], conditions)))
    assert waits == [
        (0, "other_gap", None, 10, 20, None),
        (0, "qpack", None, 20, 50, None),
        (0, "qpack", None, 30, 50, None),
    ]


@pytest.mark.parametrize(
    ("spans", "length"),
    [([], 0), ([(1, 4)], 3), ([(5, 9), (1, 4)], 7), ([(1, 4), (2, 3), (3, 8)], 7), ([(1, 4), (4, 6)], 5)],
)
def test_a_union_counts_each_instant_once(spans: list[tuple[int, int]], length: int) -> None:
    """Spans within others, beside them, and in any order."""
    assert merged_ns(spans) == length
