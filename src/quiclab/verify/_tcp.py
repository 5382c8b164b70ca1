# SPDX-License-Identifier: Apache-2.0
"""The front of a TCP connection: its options, and the first bytes of each direction (RFC 9293)."""

from __future__ import annotations

from dataclasses import dataclass

from quiclab.verify._ip import IpPacket, Sender, is_intact
from quiclab.verify._reassembly import Reassembly
from quiclab.verify._tls import Hellos, handshake_messages, read_hellos

_SYN, _ACK, _ECE, _CWR = 0x02, 0x10, 0x40, 0x80


@dataclass(frozen=True)
class TcpOptions:
    """What one side announced in its SYN segment."""

    mss_bytes: int | None
    """Maximum segment size (RFC 9293 section 3.7.1)."""
    window_scale: int | None
    """Shift count (RFC 7323 section 2); None: windows are not scaled."""
    sack_permitted: bool
    """RFC 2018 section 2."""
    timestamps: bool
    """RFC 7323 section 3."""
    ecn: bool
    """The SYN asks for ECN, or the SYN-ACK agrees to it (RFC 3168 section 6.1.1)."""
    window_bytes: int
    """The receive window of this segment, which is never scaled."""


class TcpConnection:
    """Takes segments in the order of a capture."""

    def __init__(self) -> None:
        self.payload_bytes: dict[Sender, int] = {"client": 0, "server": 0}
        self.problems: list[str] = []
        self._sides: dict[Sender, _Side] = {"client": _Side(), "server": _Side()}

    def add(self, packet: IpPacket, sender: Sender) -> None:
        """Take one segment; a damaged one is counted and not used."""
        header_bytes = (packet.transport[12] >> 4) * 4
        payload = packet.transport[header_bytes:] if header_bytes >= 20 else b""
        self.payload_bytes[sender] += len(payload)
        if (packet.transport[13] & _SYN or payload) and is_intact(packet):
            self._sides[sender].add(packet.transport, header_bytes, payload)

    def options(self, sender: Sender) -> TcpOptions | None:
        """What its SYN said; None if that was not seen."""
        return self._sides[sender].options

    def hellos(self) -> Hellos:
        """As far as they have come. Raises `MalformedError`."""
        messages: dict[Sender, bytes] = {}
        for sender, side in self._sides.items():
            messages[sender], broken_off = handshake_messages(side.stream.front)
            if broken_off:
                self.problems.append(f"the {sender} {broken_off}")
        return read_hellos(messages["client"], messages["server"])


class _Side:
    """What one side sent."""

    def __init__(self) -> None:
        self.stream = Reassembly()
        self.options: TcpOptions | None = None
        self._first_sequence: int | None = None

    def add(self, segment: bytes, header_bytes: int, payload: bytes) -> None:
        sequence, flags = int.from_bytes(segment[4:8]), segment[13]
        if flags & _SYN:
            sequence += 1  # The SYN takes one sequence number itself; data may follow (RFC 7413).
            if self._first_sequence is None:
                self._first_sequence = sequence
                self.options = _options(segment[20:header_bytes], flags, int.from_bytes(segment[14:16]))
        if self._first_sequence is not None:
            self.stream.add((sequence - self._first_sequence) % (1 << 32), payload)


def _options(options: bytes, flags: int, window_bytes: int) -> TcpOptions:
    found: dict[int, bytes] = {}
    at = 0
    while at < len(options) and options[at] != 0:  # 0 is the end of the list, 1 is padding.
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if length < 2:
            break
        found[options[at]] = options[at + 2 : at + length]
        at += length
    wanted = _ECE if flags & _ACK else _ECE | _CWR
    return TcpOptions(
        mss_bytes=int.from_bytes(found[2]) if 2 in found else None,
        window_scale=int.from_bytes(found[3]) if 3 in found else None,
        sack_permitted=4 in found,
        timestamps=8 in found,
        ecn=flags & (_ECE | _CWR) == wanted,
        window_bytes=window_bytes,
    )
