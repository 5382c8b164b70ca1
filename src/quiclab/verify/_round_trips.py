# SPDX-License-Identifier: Apache-2.0
"""How many round trips passed before the first request: one less than the client's flights up to it.

A flight of the client begins when it sends something new of the handshake, or the request, after something new of the
server's came. Acknowledgements and retransmissions begin none, so loss changes nothing, nor does the wait of a client
that sends refused 0-RTT data again only once it counts as lost. But an acknowledgement that frees a QUIC server from
the limit on what it may send to an unproven address (RFC 9000 section 8.1) counts, as it costs a round trip. A
congestion window that is smaller than a TCP server's certificates is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.verify._opened import CRYPTO, HTTP2_HEADERS, Opened, http2_type

_AMPLIFICATION = 3


def handshake_round_trips(packets: Sequence[Opened], early_data_accepted: bool) -> int | None:
    """Those of one connection; None if no request is among its packets."""
    flights = 0
    server_went_on = True
    begin_again = False
    limit = _AmplificationLimit()
    for packet in packets:
        new = packet.syn or bool(packet.messages)
        if packet.sender == "server":
            begin_again |= any(quic.kind in ("retry", "version_negotiation") for quic in packet.quic)
            server_went_on |= new or begin_again
            flights += limit.exceeded_by(packet)
            continue
        if begin_again and _has_crypto(packet):  # The same ClientHello once more, in another connection attempt.
            new, begin_again = True, False
        request = _has_request(packet, early_data_accepted)
        if server_went_on and (new or request):
            flights += 1
            server_went_on = False
        limit.raised_by(packet, new)
        if request:
            return flights - 1
    return None


class _AmplificationLimit:
    """Three times what the client's flights so far brought; none once the client's address is proven."""

    def __init__(self) -> None:
        self._received = self._counted = self._sent = 0
        self._handshake_packet = False
        self._proven = False

    def raised_by(self, packet: Opened, new: bool) -> None:
        """Take a datagram of the client's; what is no part of a flight raises the limit only when it is needed."""
        self._received += packet.payload_bytes
        kinds = {quic.kind for quic in packet.quic}
        self._handshake_packet |= "handshake" in kinds
        self._proven |= not packet.quic or any(quic.token for quic in packet.quic)
        if new or _has_crypto(packet):
            self._counted = self._received

    def exceeded_by(self, packet: Opened) -> bool:
        """Whether the server could send this datagram only because an acknowledgement of the client's had come."""
        self._sent += packet.payload_bytes
        if self._proven or self._sent <= _AMPLIFICATION * self._counted:
            return False
        self._counted = self._received
        self._proven = self._handshake_packet
        return True


def _has_crypto(packet: Opened) -> bool:
    return any(kind == "initial" and frame.kind == CRYPTO for kind, frame in packet.frames())


def _has_request(packet: Opened, early_data_accepted: bool) -> bool:
    """HTTP/1.1, a HEADERS frame of HTTP/2, or data on a request stream. What was refused in 0-RTT does not count."""
    if packet.http1 or any(http2_type(frame) == HTTP2_HEADERS for frame in packet.http2):
        return True
    return any(
        frame.is_stream and frame.stream_id is not None and frame.stream_id % 4 == 0
        for kind, frame in packet.frames()
        if kind != "0-RTT" or early_data_accepted
    )
