# SPDX-License-Identifier: Apache-2.0
"""Round trips that passed before the first request: one less than the client's flights up to it.

A flight of the client begins when it sends something new of the handshake, or the request, after something new of the
server's came. Acknowledgements and retransmissions begin none, so loss changes nothing, nor does the wait of a client
that sends refused 0-RTT data again only once it counts as lost. But an acknowledgement that frees a QUIC server from
the limit on what it may send to an unproven address (RFC 9000 section 8.1) counts, as it costs a round trip. A
congestion window that is smaller than a TCP server's certificates is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from quiclab.evidence.verify.connections import Connection
from quiclab.evidence.verify.wire import Sender

_AMPLIFICATION = 3
_NOT_TLS = ("ack", "retry", "version_negotiation", "handshake_done")
"""Steps that are nothing new of the handshake: what follows Retry and Version Negotiation is."""


@dataclass
class _Datagram:
    """Content of one IP packet."""

    sender: Sender
    payload_bytes: int
    kinds: set[str] = field(default_factory=set)
    new: bool = False
    crypto: bool = False
    """CRYPTO frames in an Initial packet."""
    request: bool = False
    token: bool = False


def handshake_round_trips(connection: Connection) -> int | None:
    """Count the round trips of one connection before its request; None if no request is among its packets."""
    flights = 0
    server_went_on = True
    begin_again = False
    limit = _AmplificationLimit()
    for datagram in _datagrams(connection):
        new = datagram.new
        if datagram.sender == "server":
            begin_again |= not datagram.kinds.isdisjoint({"retry", "version_negotiation"})
            server_went_on |= new or begin_again
            flights += limit.exceeded_by(datagram)
            continue
        if begin_again and datagram.crypto:  # The same ClientHello once more, in another connection attempt.
            new, begin_again = True, False
        if server_went_on and (new or datagram.request):
            flights += 1
            server_went_on = False
        limit.raised_by(datagram, new)
        if datagram.request:
            return flights - 1
    return None


def _datagrams(connection: Connection) -> Iterator[_Datagram]:
    """Datagrams up to the first request, told apart by their instants, which no two of one direction share."""
    requests = _request_times(connection)
    first_ns = min(requests, default=None)
    found: dict[tuple[int, Sender], _Datagram] = {}
    for packet in connection.packets(first_ns):
        at = (packet.time_ns, packet.sender)
        datagram = found.setdefault(at, _Datagram(packet.sender, packet.payload_bytes))
        if connection.is_quic and packet.kind is not None:
            datagram.kinds.add(packet.kind)
    for step in connection.steps:
        if step.name not in _NOT_TLS and (at := (step.time_ns, step.sender)) in found:
            found[at].new = True
            found[at].token |= bool(step.detail.get("token_bytes"))
    for frame in connection.frames("crypto"):
        if frame["packet_type"] == "initial" and frame["direction"] == "up":
            _mark(found, frame["time_ns"]).crypto = True
    if first_ns is not None:
        _mark(found, first_ns).request = True
    return iter(found[at] for at in sorted(found))


def _mark(found: dict[tuple[int, Sender], _Datagram], time_ns: int) -> _Datagram:
    return found.get((time_ns, "client")) or _Datagram("client", 0)


def _request_times(connection: Connection) -> list[int]:
    """HTTP/1.1, a HEADERS frame of HTTP/2, or data on a request stream. What was refused in 0-RTT does not count."""
    if not connection.is_quic:
        return connection.requests["send_start_ns"].drop_nulls().to_list()
    early = connection.early_data == "accepted"
    frames = connection.tables["frames"].filter(
        pl.col("frame_type") == "stream", pl.col("direction") == "up", pl.col("stream_id") % 4 == 0
    )
    return frames.filter((pl.col("packet_type") != "0RTT") | early)["time_ns"].to_list()


class _AmplificationLimit:
    """Three times what the client's flights so far brought; none once the client's address is proven."""

    def __init__(self) -> None:
        self._received = self._counted = self._sent = 0
        self._handshake_packet = False
        self._proven = False

    def raised_by(self, datagram: _Datagram, new: bool) -> None:
        """Take a datagram of the client's; what is no part of a flight raises the limit only when it is needed."""
        self._received += datagram.payload_bytes
        self._handshake_packet |= "handshake" in datagram.kinds
        self._proven |= not datagram.kinds or datagram.token
        if new or datagram.crypto:
            self._counted = self._received

    def exceeded_by(self, datagram: _Datagram) -> bool:
        """True if the server could send this datagram only because an acknowledgement of the client's had come."""
        self._sent += datagram.payload_bytes
        if self._proven or self._sent <= _AMPLIFICATION * self._counted:
            return False
        self._counted = self._received
        self._proven = self._handshake_packet
        return True
