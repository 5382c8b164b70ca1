# SPDX-License-Identifier: Apache-2.0
"""Sorts packets into the connections of one server, and watches how far the handshake of each has come."""

from __future__ import annotations

from quiclab.verify._cursor import MalformedError
from quiclab.verify._ip import TCP, Sender, parse_ip
from quiclab.verify._quic import QuicConnection
from quiclab.verify._tcp import TcpConnection
from quiclab.verify._tls import Hellos

Connection = TcpConnection | QuicConnection


class Connections:
    """All TCP connections and QUIC client sockets that talk with `server_port`."""

    def __init__(self, server_port: int) -> None:
        self.server_port = server_port
        self._by_client: dict[tuple[int, bytes, int], Connection] = {}

    def add(self, data: bytes) -> bool:
        """Take one IP packet; True as soon as a connection has both hellos."""
        packet = parse_ip(data)
        if packet is None:
            return False
        sender: Sender
        if packet.destination_port == self.server_port:
            sender, client = "client", (packet.protocol, packet.source, packet.source_port)
        elif packet.source_port == self.server_port:
            sender, client = "server", (packet.protocol, packet.destination, packet.destination_port)
        else:
            return False
        if client not in self._by_client:
            self._by_client[client] = TcpConnection() if packet.protocol == TCP else QuicConnection()
        connection = self._by_client[client]
        connection.add(packet, sender)
        if not connection.payload_bytes["server"]:
            return False
        hellos = _hellos(connection)
        return hellos.client is not None and hellos.server is not None

    def furthest(self) -> tuple[Connection | None, Hellos]:
        """The connection that came furthest, the first of equals; None if none carried payload."""
        connection = max(self._by_client.values(), key=_progress, default=None)
        if connection is None or not any(connection.payload_bytes.values()):
            return None, Hellos()
        return connection, _hellos(connection)

    def payload_bytes(self, kind: type[Connection]) -> int:
        """Carried by all connections of that kind, in both directions."""
        return sum(sum(c.payload_bytes.values()) for c in self._by_client.values() if isinstance(c, kind))

    def problems(self) -> list[str]:
        """Those of all connections."""
        return [problem for connection in self._by_client.values() for problem in connection.problems]


def _progress(connection: Connection) -> tuple[bool, bool, bool, bool]:
    hellos, carried = _hellos(connection), connection.payload_bytes
    return hellos.server is not None, carried["server"] > 0, hellos.client is not None, carried["client"] > 0


def _hellos(connection: Connection) -> Hellos:
    try:
        return connection.hellos()
    except MalformedError as error:
        connection.problems.append(str(error))
        return Hellos()
