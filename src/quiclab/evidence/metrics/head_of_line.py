# SPDX-License-Identifier: Apache-2.0
"""Head-of-line blocking: the table delivery_waits, and how long how many bytes of objects waited for others'."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.arrived_pieces import Stream, quic_conditions, quic_streams, tcp_records
from quiclab.evidence.metrics.deliveries import (
    BY_OTHERS,
    Cause,
    Piece,
    Wait,
    merged_ns,
    waits_over_quic,
    waits_over_tcp,
)
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.order import object_names
from quiclab.model.tables import TABLES


@dataclass(frozen=True)
class Delivery:
    """One object at its receiver: its bytes, headers included, and their waits."""

    stream: Stream
    size: int
    arrived_ns: int
    """Arrival of the last byte."""
    waits: tuple[Wait, ...]

    def blocked_ns(self, causes: Sequence[Cause]) -> int:
        """Time in which at least one of its bytes waited for one of some causes."""
        return merged_ns((wait.begin_ns, wait.until_ns) for wait in self.waits if wait.cause in causes)

    def byte_ns(self, causes: Sequence[Cause]) -> int:
        """Sum of the waits of its bytes for some causes."""
        return sum(_byte_ns(wait) for wait in self.waits if wait.cause in causes)

    @property
    def blocked_bytes(self) -> int:
        """Bytes that waited for bytes of others."""
        return sum({wait.number: wait.piece.size for wait in self.waits if wait.cause in BY_OTHERS}.values())

    @property
    def delay_ns(self) -> int:
        """Time from the arrival of its last byte until no byte of others was missing any more."""
        until_ns = (wait.until_ns for wait in self.waits if wait.cause in BY_OTHERS)
        return max(0, max(until_ns, default=self.arrived_ns) - self.arrived_ns)


def delivery_waits(evidence: Evidence) -> pl.DataFrame:
    """One row per object, cause and end of a wait, by begin; none where the trial's tables cannot tell."""
    try:
        rows = sorted(_rows(evidence), key=lambda row: row[:2])
    except Unknown:
        rows = []
    return pl.DataFrame(rows, schema=TABLES["delivery_waits"].schema(), orient="row")


Row = tuple[float, float, str | None, str, int, str, int | None, str | None, int, float, bool | None]


def _rows(evidence: Evidence) -> Iterator[Row]:
    names = object_names(evidence)
    for delivery in deliveries(evidence):
        ending: defaultdict[tuple[int, Cause, int | None, bool | None], list[Wait]] = defaultdict(list)
        for wait in delivery.waits:
            ending[wait.until_ns, wait.cause, wait.behind, wait.overtaken].append(wait)
        connection, stream_id = delivery.stream
        for (until_ns, cause, behind, overtaken), waits in ending.items():
            yield (
                evidence.since_zero_ms(min(wait.begin_ns for wait in waits)),
                evidence.since_zero_ms(until_ns),
                names.get(delivery.stream),
                connection,
                stream_id,
                cause,
                behind,
                None if behind is None else names.get((connection, behind)),
                sum(wait.piece.size for wait in waits),
                sum(map(_byte_ns, waits)) / 1e6,
                overtaken,
            )


def _byte_ns(wait: Wait) -> int:
    return wait.piece.size * (wait.until_ns - wait.begin_ns)


@lru_cache(maxsize=1)
def deliveries(evidence: Evidence) -> tuple[Delivery, ...]:
    """Objects of a trial as they arrived. Raises Unknown where the tables cannot tell, or tell of a part alone."""
    if evidence.trial.protocol == "h1":
        raise Unknown("HTTP/1.1 sends one object after the other on a connection")
    found = tuple(_over_quic(evidence) if evidence.quic else _over_tcp(evidence))
    seen, wanted = sum(each.size for each in found), evidence.trial.expected.body_bytes or 0
    if not found or seen < wanted:
        raise Unknown(
            f"what was recorded at the {evidence.receiver}'s end shows {seen} of {wanted} bytes of the objects"
        )
    return found


def _over_tcp(evidence: Evidence) -> Iterator[Delivery]:
    for connection, records in tcp_records(evidence).items():
        pieces: defaultdict[int, list[Piece]] = defaultdict(list)
        for record in records:
            for piece in record:
                if piece.stream_id is not None and piece.size:
                    pieces[piece.stream_id].append(piece)
        waits: defaultdict[int | None, list[Wait]] = defaultdict(list)
        for wait in waits_over_tcp(records):
            waits[wait.piece.stream_id].append(wait)
        for stream_id, own in pieces.items():
            yield _delivery((connection, stream_id), own, waits[stream_id])


def _over_quic(evidence: Evidence) -> Iterator[Delivery]:
    conditions = quic_conditions(evidence)
    for stream, pieces in quic_streams(evidence).items():
        yield _delivery(stream, pieces, list(waits_over_quic(pieces, conditions[stream])))


def _delivery(stream: Stream, pieces: Sequence[Piece], waits: Sequence[Wait]) -> Delivery:
    size, arrived_ns = sum(piece.size for piece in pieces), max(piece.arrived_ns for piece in pieces)
    return Delivery(stream, size, arrived_ns, tuple(waits))


def _overtaken_pct(evidence: Evidence) -> float:
    if evidence.quic:
        raise Unknown("over QUIC no stream waits for bytes of another")
    gaps = [wait for each in deliveries(evidence) for wait in each.waits if wait.cause == "other_gap"]
    total = sum(map(_byte_ns, gaps))
    if total == 0:
        raise Unknown("no byte waited behind a gap of others")
    if any(wait.overtaken is None for wait in gaps):
        raise Unknown("the order of sending is not known: it takes the packet log of a single link")
    return 100 * sum(_byte_ns(wait) for wait in gaps if wait.overtaken) / total


def _qpack_ms(evidence: Evidence) -> float:
    if not evidence.quic:
        raise Unknown("HTTP/2 has no QPACK")
    if evidence.upload:
        raise Unknown("no table tells when the header of a request was decoded")
    if evidence.responses.drop_nulls("headers_ns").is_empty():
        raise Unknown("the client's capture could not be decrypted")
    return sum(each.blocked_ns(("qpack",)) for each in deliveries(evidence)) / 1e6


def _tls_record_ms(evidence: Evidence) -> float:
    if evidence.quic:
        raise Unknown("QUIC has no TLS records")
    return _mean_wait_ms(deliveries(evidence), ("tls_record",))


def _mean_wait_ms(objects: Sequence[Delivery], causes: Sequence[Cause]) -> float:
    """Mean wait of a byte of the objects for some causes."""
    return sum(each.byte_ns(causes) for each in objects) / sum(each.size for each in objects) / 1e6


def _metric(name: str, title: str, unit: str, compute: Callable[[tuple[Delivery, ...]], float], doc: str) -> Metric:
    return Metric(name, title, unit, "lower", doc, lambda evidence: compute(deliveries(evidence)))


_BLOCKED = (
    "Head-of-line blocking by other objects and by the connection's own bytes: a byte of the object had arrived, as "
    "had all of the object before it, and could not be handed on because bytes of others were missing "
    "(`delivery_waits`)"
)

HEAD_OF_LINE = (
    Metric(
        "hol_blocked_ms",
        "head-of-line blocking of all objects",
        "ms",
        "lower",
        f"{_BLOCKED}. Time in which at least one byte of an object was blocked, summed over the objects, which may be "
        "blocked at once. No part of the time to the last byte: the last byte of all to arrive waits for nothing.",
        lambda evidence: sum(each.blocked_ns(BY_OTHERS) for each in deliveries(evidence)) / 1e6,
        heading="blocked by others",
    ),
    _metric(
        "hol_longest_blocked_ms",
        "head-of-line blocking of the most blocked object",
        "ms",
        lambda objects: max(each.blocked_ns(BY_OTHERS) for each in objects) / 1e6,
        f"{_BLOCKED}. Time in which at least one of its bytes was blocked; the longest of all objects.",
    ),
    _metric(
        "hol_object_delay_ms",
        "mean delay of objects by head-of-line blocking",
        "ms",
        lambda objects: sum(each.delay_ns for each in objects) / len(objects) / 1e6,
        "Time from the arrival of an object's last byte until no earlier byte of others was missing any more, mean "
        "over the objects: by so much they were complete later than their own bytes alone would have made them.",
    ),
    _metric(
        "hol_longest_object_delay_ms",
        "longest delay of an object by head-of-line blocking",
        "ms",
        lambda objects: max(each.delay_ns for each in objects) / 1e6,
        "Time from the arrival of an object's last byte until no earlier byte of others was missing any more; the "
        "longest of all objects.",
    ),
    _metric(
        "hol_blocked_bytes",
        "bytes behind a gap of others",
        "bytes",
        lambda objects: sum(each.blocked_bytes for each in objects),
        f"{_BLOCKED}. Bytes that were blocked, headers included.",
    ),
    _metric(
        "hol_mean_wait_ms",
        "mean wait of a byte behind a gap of others",
        "ms",
        lambda objects: _mean_wait_ms(objects, BY_OTHERS),
        f"{_BLOCKED}. Sum of the blocked bytes' waits over the bytes of all objects, blocked or not.",
    ),
    Metric(
        "hol_overtaken_pct",
        "share of head-of-line blocking that is reordering",
        "%",
        "none",
        "Share of the blocked bytes' waits that ended with bytes which had been sent before those that waited: the "
        "network had changed their order. The rest ended with bytes that were sent again.",
        _overtaken_pct,
    ),
    _metric(
        "own_gap_mean_wait_ms",
        "mean wait of a byte behind a gap of its own object",
        "ms",
        lambda objects: _mean_wait_ms(objects, ("own_gap",)),
        "Sum of the waits of bytes for earlier bytes of their own object, over the bytes of all objects: delivery in "
        "order, over TCP and QUIC alike, which is no head-of-line blocking by others.",
    ),
    Metric(
        "tls_record_mean_wait_ms",
        "mean wait of a byte for the rest of its TLS record",
        "ms",
        "lower",
        "Sum of the waits of bytes for the rest of their TLS record, all before which had arrived, over the bytes of "
        "all objects. Large records wait longer, without any loss too.",
        _tls_record_ms,
    ),
    Metric(
        "qpack_blocked_ms",
        "headers that waited for QPACK's encoder stream",
        "ms",
        "lower",
        "Time in which a response was blocked because its header refers to inserts into the dynamic table of QPACK "
        "that had not come (RFC 9204 section 2.1.2), summed over the objects; a part of `hol_blocked_ms`.",
        _qpack_ms,
    ),
)
