# SPDX-License-Identifier: Apache-2.0
"""What the IP and transport headers of a whole capture tell without any key: who talked, how much, and ECN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from quiclab.verify._ip import TCP, UDP, Sender, parse_headers
from quiclab.verify._pcapng import CaptureError, read_captured

ECN_CODEPOINTS = ("not_ect", "ect1", "ect0", "ce")
"""By the value of the two bits (RFC 3168 section 5)."""

Socket = tuple[int, bytes, int]
"""A client's end: IP protocol, address, port."""


class WirePacket(NamedTuple):
    """One packet between a client and the server. Its number in the capture is its place in `Wire.packets` plus 1."""

    sender: Sender
    socket: Socket
    payload_bytes: int
    """Carried by TCP or UDP, whether the capture kept it or not."""


@dataclass
class ClientSocket:
    """A client's end of a connection, or of one path of a QUIC connection, and what went to and fro."""

    first_packet: int
    """Number in the capture, from 1."""
    payload_bytes: dict[Sender, int] = field(default_factory=lambda: {"client": 0, "server": 0})


@dataclass
class Wire:
    """The packets of one capture that come from or go to the server's port."""

    packets: list[WirePacket | None] = field(default_factory=list)
    """All of the capture; None for what is not the server's traffic."""
    sockets: dict[Socket, ClientSocket] = field(default_factory=dict)
    """In the order in which they appear."""
    ecn: dict[Sender, list[int]] = field(default_factory=lambda: {"client": [0] * 4, "server": [0] * 4})
    """Packets per codepoint."""
    whole: bool = True
    """No packet was cut to its headers."""
    problem: str | None = None

    def ecn_seen(self, sender: Sender) -> dict[str, int]:
        """Packets of one sender by codepoint; those that it never used are left out."""
        return {name: count for name, count in zip(ECN_CODEPOINTS, self.ecn[sender], strict=True) if count}

    def ecn_shares(self, sender: Sender) -> dict[str, float | int]:
        """Packets of one sender, and how many of them are ECT(0), ECT(1) and CE, with their shares."""
        counts = dict(zip(ECN_CODEPOINTS, self.ecn[sender], strict=True))
        packets = sum(counts.values())
        shares: dict[str, float | int] = {"packets": packets}
        for name in ("ect0", "ect1", "ce"):
            shares |= {name: counts[name], f"{name}_pct": round(100 * counts[name] / packets, 3) if packets else 0.0}
        return shares


def read_wire(capture: Path, server_port: int) -> Wire:
    """Walk through the whole capture. Never raises: `problem` says where it ended early."""
    wire = Wire()
    try:
        with capture.open("rb") as file:
            for kept, original in read_captured(file):
                wire.whole &= len(kept) >= original
                wire.packets.append(_add(wire, kept, server_port))
    except (OSError, CaptureError) as error:
        wire.problem = str(error)
    return wire


def _add(wire: Wire, kept: bytes, server_port: int) -> WirePacket | None:
    headers = parse_headers(kept)
    if headers is None:
        return None
    sender: Sender
    if headers.destination_port == server_port:
        sender, socket = "client", (headers.protocol, headers.source, headers.source_port)
    elif headers.source_port == server_port:
        sender, socket = "server", (headers.protocol, headers.destination, headers.destination_port)
    else:
        return None
    known = wire.sockets.get(socket)
    if known is None:
        known = wire.sockets[socket] = ClientSocket(first_packet=len(wire.packets) + 1)
    known.payload_bytes[sender] += headers.payload_bytes
    wire.ecn[sender][headers.ecn] += 1
    return WirePacket(sender, socket, headers.payload_bytes)


def socket_name(socket: Socket) -> str:
    """For example `udp 10.77.0.1:50502`."""
    protocol, address, port = socket
    host = ip_address(address)
    return f"{ {TCP: 'tcp', UDP: 'udp'}[protocol] } {f'[{host}]' if host.version == 6 else host}:{port}"


def sockets_of(wire: Wire, protocol: int) -> Iterator[Socket]:
    """Those of one transport, in the order in which they appear."""
    return (socket for socket in wire.sockets if socket[0] == protocol)


def payload_by_address(wire: Wire) -> dict[str, dict[str, int]]:
    """Payload bytes of each sender, by the client's address, in the order in which these appear."""
    found: dict[str, dict[str, int]] = {}
    for (_, address, _), socket in wire.sockets.items():
        sums = found.setdefault(str(ip_address(address)), {"client": 0, "server": 0})
        for sender, count in socket.payload_bytes.items():
            sums[sender] += count
    return found
