# SPDX-License-Identifier: Apache-2.0
"""The Initial packets of a QUIC connection, opened, and their CRYPTO frames put together (RFC 9000 section 17.2)."""

from __future__ import annotations

from quiclab.verify._cursor import Cursor, MalformedError
from quiclab.verify._ip import IpPacket, Sender, udp_payload
from quiclab.verify._quic_initial import VERSIONS, InitialKeys, QuicVersion
from quiclab.verify._reassembly import Reassembly
from quiclab.verify._tls import Hellos, read_hellos

_LONG_HEADER = 0x80
_PADDING, _PING, _ACK, _ACK_ECN, _CRYPTO, _CLOSE = 0x00, 0x01, 0x02, 0x03, 0x06, 0x1C


class Attempt:
    """What was sent under the keys of one Destination Connection ID; a Retry begins another (RFC 9001 section 5.2)."""

    def __init__(self, destination_id: bytes) -> None:
        self.streams: dict[Sender, Reassembly] = {"client": Reassembly(), "server": Reassembly()}
        self._destination_id = destination_id
        self._keys: dict[tuple[QuicVersion, Sender], InitialKeys] = {}
        self._expected: dict[Sender, int] = {"client": 0, "server": 0}

    def open(self, version: QuicVersion, sender: Sender, packet: bytes, number_at: int) -> bytes | None:
        """The payload of an Initial packet, or None where it belongs to another attempt or is damaged."""
        if (version, sender) not in self._keys:
            self._keys[version, sender] = InitialKeys(version, self._destination_id, sender)
        opened = self._keys[version, sender].open(packet, number_at, self._expected[sender])
        if opened is None:
            return None
        number, payload = opened
        self._expected[sender] = max(self._expected[sender], number + 1)
        return payload


class QuicConnection:
    """Takes the datagrams between the server and one client socket in the order of a capture."""

    def __init__(self) -> None:
        self.payload_bytes: dict[Sender, int] = {"client": 0, "server": 0}
        self.problems: list[str] = []
        self.version: str | None = None
        """Of the last packet with a long header."""
        self.retry = False
        self.version_negotiation = False
        self.early_data_packets = 0
        self._attempts: list[Attempt] = []

    def add(self, packet: IpPacket, sender: Sender) -> None:
        """Take one datagram."""
        rest = udp_payload(packet)
        self.payload_bytes[sender] += len(rest)
        try:
            while rest and rest[0] & _LONG_HEADER:
                rest = self._long_header(rest, sender)
        except MalformedError as error:
            self.problems.append(str(error))

    def hellos(self) -> Hellos:
        """Those of the last attempt, as far as they have come. Raises `MalformedError`."""
        if not self._attempts:
            return Hellos()
        streams = self._attempts[-1].streams
        return read_hellos(streams["client"].front, streams["server"].front)

    def _long_header(self, data: bytes, sender: Sender) -> bytes:
        """Take the packet at the front; what is coalesced behind it (RFC 9000 section 12.2)."""
        header = Cursor(data, "a QUIC long header")
        kind = header.number(1) >> 4 & 3
        number = header.number(4)
        destination_id = header.vector(1)
        header.vector(1)  # Source Connection ID
        if number == 0:
            self.version_negotiation = True
            return b""
        version = VERSIONS.get(number)
        self.version = version.name if version else f"0x{number:08x}"
        if version is None:
            raise MalformedError(f"QUIC version 0x{number:08x} is not known, so its Initial packets stay closed")
        if kind == version.retry_type:
            self.retry = True
            return b""
        if kind == version.early_data_type:
            self.early_data_packets += 1
        if kind == version.initial_type:
            header.take(header.varint())  # Token
        length = header.varint()
        number_at = header.at
        header.take(length)
        if kind == version.initial_type:
            self._initial(version, sender, data[: header.at], number_at, destination_id)
        return data[header.at :]

    def _initial(
        self, version: QuicVersion, sender: Sender, packet: bytes, number_at: int, destination_id: bytes
    ) -> None:
        # Only the right keys open a packet, so trying tells which attempt it belongs to, and whether it begins one.
        for attempt in [*self._attempts, Attempt(destination_id)]:
            payload = attempt.open(version, sender, packet, number_at)
            if payload is not None:
                if attempt not in self._attempts:
                    self._attempts.append(attempt)
                self._frames(Cursor(payload, "an Initial packet"), sender, attempt.streams[sender])
                return
        self.problems.append(f"an Initial packet of the {sender} did not open")

    def _frames(self, frames: Cursor, sender: Sender, stream: Reassembly) -> None:
        """The frames that RFC 9000 section 12.4 permits in Initial packets."""
        while frames:
            kind = frames.varint()
            if kind == _PADDING:
                frames.skip_zeros()
            elif kind in (_ACK, _ACK_ECN):
                _skip_ack(frames, kind)
            elif kind == _CRYPTO:
                offset = frames.varint()
                stream.add(offset, frames.take(frames.varint()))
            elif kind == _CLOSE:
                self.problems.append(f"the {sender} closed the QUIC connection with error 0x{frames.varint():x}")
                return
            elif kind != _PING:
                raise MalformedError(f"an Initial packet has a frame of type 0x{kind:x}")


def _skip_ack(frames: Cursor, kind: int) -> None:
    """RFC 9000 section 19.3."""
    frames.varint()  # Largest Acknowledged
    frames.varint()  # ACK Delay
    ranges = frames.varint()
    for _ in range(1 + 2 * ranges + (3 if kind == _ACK_ECN else 0)):
        frames.varint()
