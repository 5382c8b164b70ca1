# SPDX-License-Identifier: Apache-2.0
"""Waits of bytes that had arrived and could not be handed to the application, and what each of them waited for.

`docs/explanation/head-of-line-blocking.md` has the definition. Bytes that arrived together and belong to one stream are
a piece. A piece can be handed on once all that stands before it has arrived: over TCP in the connection, over QUIC in
its stream. When that is, the running maximum of arrivals says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Cause = Literal["own_gap", "other_gap", "tls_record", "qpack"]
"""Labels of the column `cause` of delivery_waits."""
BY_OTHERS: tuple[Cause, ...] = ("other_gap", "qpack")
"""Causes that are head-of-line blocking: the object's own bytes have all arrived."""


class Piece(NamedTuple):
    """Bytes that arrived together and belong to one stream."""

    stream_id: int | None
    """Stream of the object that they belong to; None of bytes of no object."""
    size: int
    """Bytes of the object among them; 0 of headers and tags of TLS records, which it needs as well."""
    arrived_ns: int
    sent: int | None
    """Place of their packet in the order of sending, where it is known."""


@dataclass(frozen=True)
class Wait:
    """Wait of one piece for one cause."""

    number: int
    """Number of the piece: of its TCP connection, or of its QUIC stream."""
    piece: Piece
    cause: Cause
    behind: int | None
    """Stream of the bytes that end it; None of bytes of no object."""
    begin_ns: int
    until_ns: int
    overtaken: bool | None
    """True if the bytes that end it had been sent earlier; None where the order of sending is unknown."""


class Condition(NamedTuple):
    """Requirement of a QUIC stream beside its own bytes, and the instant from which it is met."""

    cause: Cause
    since_ns: int
    """Begin of the wait: bytes that arrived earlier waited for something else, or for nothing, until then."""
    until_ns: int


def waits_over_tcp(records: Iterable[Sequence[Piece]]) -> Iterator[Wait]:
    """Waits of the pieces of one TCP connection, one way: `records` are the pieces of each TLS record, in order."""
    number = 0
    last: Piece | None = None
    last_of_stream: dict[int | None, Piece] = {}
    for record in records:
        whole_ns = max(piece.arrived_ns for piece in record)
        for piece in record:
            own = last_of_stream.get(piece.stream_id)
            if piece.stream_id is not None and piece.size:
                yield from _over_tcp(number, piece, own, last, whole_ns)
            last, last_of_stream[piece.stream_id] = _later(last, piece), _later(own, piece)
            number += 1


def _over_tcp(number: int, piece: Piece, own: Piece | None, last: Piece | None, whole_ns: int) -> Iterator[Wait]:
    at_ns = piece.arrived_ns
    if own is not None and own.arrived_ns > at_ns:
        yield Wait(number, piece, "own_gap", piece.stream_id, at_ns, own.arrived_ns, _overtaken(piece, own))
        at_ns = own.arrived_ns
    if last is not None and last.arrived_ns > at_ns:
        yield Wait(number, piece, "other_gap", last.stream_id, at_ns, last.arrived_ns, _overtaken(piece, last))
        at_ns = last.arrived_ns
    if whole_ns > at_ns:
        yield Wait(number, piece, "tls_record", None, at_ns, whole_ns, None)


def waits_over_quic(pieces: Iterable[Piece], conditions: Sequence[Condition]) -> Iterator[Wait]:
    """Waits of the pieces of one QUIC stream, by offset; `conditions` are met one after the other."""
    own: Piece | None = None
    for number, piece in enumerate(pieces):
        at_ns = piece.arrived_ns
        if own is not None and own.arrived_ns > at_ns:
            yield Wait(number, piece, "own_gap", piece.stream_id, at_ns, own.arrived_ns, _overtaken(piece, own))
            at_ns = own.arrived_ns
        for condition in conditions:
            begin_ns = max(at_ns, condition.since_ns)
            if condition.until_ns > begin_ns:
                yield Wait(number, piece, condition.cause, None, begin_ns, condition.until_ns, None)
                at_ns = condition.until_ns
        own = _later(own, piece)


def _later(one: Piece | None, other: Piece) -> Piece:
    return other if one is None or other.arrived_ns > one.arrived_ns else one


def _overtaken(waiting: Piece, last: Piece) -> bool | None:
    """True if the piece that came last was sent first."""
    return None if waiting.sent is None or last.sent is None else last.sent < waiting.sent


def merged_ns(spans: Iterable[tuple[int, int]]) -> int:
    """Length of the union of half-open spans of time."""
    total_ns, end_ns = 0, None
    for begin_ns, until_ns in sorted(spans):
        begin_ns = begin_ns if end_ns is None else max(begin_ns, end_ns)
        if until_ns > begin_ns:
            total_ns, end_ns = total_ns + until_ns - begin_ns, until_ns
    return total_ns
