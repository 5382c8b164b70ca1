# SPDX-License-Identifier: Apache-2.0
"""TCP connections in captures: sequence numbers without wrap-around, and when what was sent moved on (RFC 9293)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.evidence.metrics.evidence import Direction, End, Evidence
from quiclab.evidence.metrics.intervals import IntervalSet

Int64s = npt.NDArray[np.int64]

_SYN = 0x02
_CLIENT_PORT: dict[Direction, str] = {"up": "src_port", "down": "dst_port"}


@dataclass(frozen=True)
class Segments:
    """The segments with payload that one end sent on one connection, in the order of a capture."""

    time_ns: Int64s
    start: Int64s
    """Offset of the first payload byte from the initial sequence number."""
    end: Int64s
    isn: int
    client_port: int

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """(time_ns, start, end) of each segment."""
        return zip(self.time_ns.tolist(), self.start.tolist(), self.end.tolist(), strict=True)

    def in_order(self) -> Iterator[tuple[int, int]]:
        """(time_ns, offset) at each segment that moves on the offset up to which all bytes have arrived."""
        seen = IntervalSet()
        origin = int(self.start.min(initial=np.iinfo(np.int64).max))
        reached = origin
        for time_ns, start, end in self:
            seen.add(start, end)
            if seen.reach(origin) > reached:
                reached = seen.reach(origin)
                yield time_ns, reached


def unwrap(numbers: Int64s, origin: int) -> Int64s:
    """32-bit sequence numbers as offsets from `origin`; each is within 2^31 of the one before."""
    steps = np.diff(numbers, prepend=origin)
    steps = (steps + 2**31) % 2**32 - 2**31
    return np.cumsum(steps)


def sent_segments(evidence: Evidence, end: End, direction: Direction) -> list[Segments]:
    """The segments with payload of one direction as one end's capture shows them, one entry per connection.

    Of a page over HTTP/3 too, whose other hosts may have TCP alone.
    """
    packets = evidence.packets(end, direction, ("tcp",))
    if end == ("client" if direction == "down" else "server"):
        packets = packets.filter(pl.col("dropped").is_null())
    connections = []
    for (port,), flow in packets.drop_nulls("tcp_seq").group_by(_CLIENT_PORT[direction], maintain_order=True):
        isn = _initial_sequence_number(flow)
        start = unwrap(_integers(flow, "tcp_seq"), isn)
        length = _integers(flow, "payload_bytes")
        full = length > 0
        time_ns = _integers(flow, "time_ns")
        connections.append(Segments(time_ns[full], start[full], (start + length)[full], isn, int(port)))
    return connections


def acknowledgments(evidence: Evidence, segments: Segments) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """(time_ns, ranges) of every ACK that the receiver of the bodies sends on a connection, dropped by the link or not.

    Ranges are offsets from the sender's initial sequence number: the cumulative one first, then the SACK blocks.
    """
    back: Direction = "down" if evidence.upload else "up"
    of_connection = pl.col(_CLIENT_PORT[back]) == segments.client_port
    sent = evidence.packets(evidence.receiver, back).drop_nulls("tcp_ack").filter(of_connection)
    acks = unwrap(_integers(sent, "tcp_ack"), segments.isn).tolist()
    for time_ns, ack, edges in zip(sent["time_ns"].to_list(), acks, sent["tcp_sack"].to_list(), strict=True):
        # An edge is within 2^31 of the cumulative acknowledgment.
        offsets = [ack + ((edge - segments.isn - ack + 2**31) % 2**32 - 2**31) for edge in edges or ()]
        yield time_ns, [(0, ack), *zip(offsets[::2], offsets[1::2], strict=False)]


def application_data(evidence: Evidence, direction: Direction) -> pl.DataFrame:
    """The packets with TLS application data that one side sends, in the capture of that side."""
    end: End = "client" if direction == "up" else "server"
    return evidence.packets(end, direction).filter(pl.col("tls_application_data"))


def _initial_sequence_number(flow: pl.DataFrame) -> int:
    """The SYN's, else (a capture that starts late) one before the first byte seen."""
    syn = flow.filter((pl.col("tcp_flags") & _SYN) != 0)
    return int(syn["tcp_seq"][0]) if syn.height else int(flow["tcp_seq"][0]) - 1


def _integers(frame: pl.DataFrame, column: str) -> Int64s:
    return frame[column].fill_null(0).cast(pl.Int64).to_numpy()
