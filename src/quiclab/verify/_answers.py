# SPDX-License-Identifier: Apache-2.0
"""What each connection of a client was answered: one that begins again after a change of address has more than one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from quiclab.verify._ip import Sender
from quiclab.verify._opened import HTTP2_HEADERS, Opened, http2_type
from quiclab.verify._tshark import descendants, text
from quiclab.verify.wire import socket_name

Resumed = Callable[[Sequence[Opened]], bool | None]
EarlyData = Callable[[Sequence[Opened]], str | None]


def answers_of(
    connections: Iterable[Sequence[Opened]], resumed: Resumed, early_data: EarlyData
) -> list[dict[str, Any]]:
    """Of each, in their order: the client's socket, whether TLS resumed a session, what became of 0-RTT, and of the
    first request over HTTP/2 the range asked for, the status and the range that came; null where the packets do not
    tell."""
    told = []
    for packets in sorted(connections, key=lambda some: some[0].number):
        request, response = _fields(packets, "client"), _fields(packets, "server")
        status = response.get(":status")
        told.append(
            {
                "client_socket": socket_name(packets[0].socket),
                "resumed": resumed(packets),
                "early_data": early_data(packets),
                "range_asked": request.get("range"),
                "if_range": request.get("if-range"),
                "status": int(status) if status and status.isdigit() else None,
                "content_range": response.get("content-range"),
            }
        )
    return told


def _fields(packets: Sequence[Opened], sender: Sender) -> dict[str, str | None]:
    """Header fields of the first HEADERS frame of HTTP/2 that one end sent."""
    frames = (frame for packet in packets if packet.sender == sender for frame in packet.http2)
    first = next((frame for frame in frames if http2_type(frame) == HTTP2_HEADERS), ())
    headers = descendants(first, "http2.header")
    return {text(each, "http2.header.name") or "": text(each, "http2.header.value") for each in headers}
