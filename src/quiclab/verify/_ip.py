# SPDX-License-Identifier: Apache-2.0
"""IP packets (RFC 791, RFC 8200) down to their transport protocol, and the Internet checksum (RFC 1071)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal, NamedTuple

Sender = Literal["client", "server"]

TCP, UDP = 6, 17
_HOP_BY_HOP, _ROUTING, _DESTINATION_OPTIONS = 0, 43, 60


@dataclass(frozen=True, slots=True)
class IpPacket:
    """An unfragmented IP packet with at least the ports of TCP or UDP."""

    protocol: int
    source: bytes
    destination: bytes
    transport: bytes
    """The transport's header and payload."""

    @property
    def source_port(self) -> int:
        """The first two bytes of TCP and of UDP."""
        return int.from_bytes(self.transport[0:2])

    @property
    def destination_port(self) -> int:
        """The next two bytes of both."""
        return int.from_bytes(self.transport[2:4])


def parse_ip(packet: bytes) -> IpPacket | None:
    """The TCP or UDP packet inside, or None for everything else (also fragments, and what is cut short)."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        start, end = (packet[0] & 15) * 4, int.from_bytes(packet[2:4])
        protocol, source, destination = packet[9], packet[12:16], packet[16:20]
        if start < 20 or int.from_bytes(packet[6:8]) & 0x3FFF:
            return None
    elif version == 6 and len(packet) >= 40:
        start, end = 40, 40 + int.from_bytes(packet[4:6])
        protocol, source, destination = packet[6], packet[8:24], packet[24:40]
        while protocol in (_HOP_BY_HOP, _ROUTING, _DESTINATION_OPTIONS) and start + 8 <= len(packet):
            protocol, start = packet[start], start + 8 * (packet[start + 1] + 1)
    else:
        return None
    least = {TCP: 20, UDP: 8}.get(protocol)
    if least is None or end > len(packet) or end - start < least:
        return None
    return IpPacket(protocol, source, destination, packet[start:end])


class IpHeaders(NamedTuple):
    """What the headers say, whether the payload was captured or not."""

    protocol: int
    ecn: int
    """The two bits of RFC 3168 section 5."""
    source: bytes
    source_port: int
    destination: bytes
    destination_port: int
    payload_bytes: int
    """Carried by TCP or UDP."""


def parse_headers(packet: bytes) -> IpHeaders | None:
    """Those of a TCP or UDP packet that may be cut behind them; None for everything else, also for fragments."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        start, end, protocol, ecn = (packet[0] & 15) * 4, packet[2] << 8 | packet[3], packet[9], packet[1] & 3
        source, destination = packet[12:16], packet[16:20]
        if start < 20 or (packet[6] << 8 | packet[7]) & 0x3FFF:
            return None
    elif version == 6 and len(packet) >= 40:
        start, end, protocol, ecn = 40, 40 + (packet[4] << 8 | packet[5]), packet[6], packet[1] >> 4 & 3
        source, destination = packet[8:24], packet[24:40]
    else:
        return None
    if protocol not in (TCP, UDP) or len(packet) < start + (20 if protocol == TCP else 8):
        return None
    ports = struct.unpack_from("!HH", packet, start)
    header_bytes = (packet[start + 12] >> 4) * 4 if protocol == TCP else 8
    return IpHeaders(protocol, ecn, source, ports[0], destination, ports[1], max(0, end - start - header_bytes))


def udp_payload(packet: IpPacket) -> bytes:
    """What follows the UDP header (RFC 768)."""
    return packet.transport[8 : int.from_bytes(packet.transport[4:6])]


def is_intact(packet: IpPacket) -> bool:
    """Whether the checksum of a TCP segment is right, or still left to the sender's network card.

    In the second case, which a capture in front of that card shows, the field holds the sum of the pseudo-header.
    """
    pseudo_header = _sum(packet.source + packet.destination) + packet.protocol + len(packet.transport)
    field = int.from_bytes(packet.transport[16:18])
    return field == _fold(pseudo_header) or _fold(pseudo_header + _sum(packet.transport)) == 0xFFFF


def _sum(data: bytes) -> int:
    padded = data + b"\0" * (len(data) % 2)
    return sum(struct.unpack(f"!{len(padded) // 2}H", padded))


def _fold(total: int) -> int:
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total
