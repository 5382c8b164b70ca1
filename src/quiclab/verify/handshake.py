# SPDX-License-Identifier: Apache-2.0
"""What a connection's first packets prove about it, read with no key but those that anybody can derive."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from quiclab.verify._connections import Connections
from quiclab.verify._cursor import MalformedError
from quiclab.verify._ip import parse_headers
from quiclab.verify._pcapng import CaptureError, read_packets
from quiclab.verify._quic import QuicConnection
from quiclab.verify._tcp import TcpConnection, TcpOptions
from quiclab.verify._tls import ClientHello, Hellos
from quiclab.verify._transport_parameters import parse_transport_parameters

MOST_PACKETS = 400


@dataclass(frozen=True)
class Handshake:
    """The handshake of the first connection that completed both hellos, else of the one that came furthest.

    None (or empty) means that the packets do not tell; `problems` says why.
    """

    transport: Literal["tcp", "quic", "none"] = "none"
    """What carried this handshake; where there was none, what carried payload."""
    tcp_payload_bytes: int = 0
    """Both directions, of the packets examined; with `udp_payload_bytes` it shows a race or a fallback."""
    udp_payload_bytes: int = 0
    packets_examined: int = 0
    tls_version: str | None = None
    cipher_suite: str | None = None
    group: str | None = None
    """Of the key exchange that the server chose."""
    hello_retry_request: bool | None = None
    server_name: str | None = None
    alpn_offered: tuple[str, ...] = ()
    groups_offered: tuple[str, ...] = ()
    key_shares_offered: tuple[str, ...] = ()
    psk_offered: bool | None = None
    resumed: bool | None = None
    """The server accepted a pre-shared key."""
    early_data_offered: bool | None = None
    early_data_packets: int | None = None
    """0-RTT packets of QUIC, up to the ServerHello; whether they carried data only decrypting them tells."""
    quic_version: str | None = None
    quic_retry: bool | None = None
    quic_version_negotiation: bool | None = None
    quic_parameters_client: dict[str, int | bool | str] = field(default_factory=dict)
    """Transport parameters as sent; RFC 9000 section 18.2 has the units, and the defaults of absent ones."""
    tcp_options_client: TcpOptions | None = None
    tcp_options_server: TcpOptions | None = None
    problems: tuple[str, ...] = ()


def read_handshake(capture: Path, server_port: int) -> Handshake:
    """Read a trial's client end until both hellos are complete, or `MOST_PACKETS`. Never raises, whatever the file."""
    connections = Connections(server_port)
    problems: list[str] = []
    examined = 0
    try:
        with capture.open("rb") as file:
            for packet in islice(read_packets(file, lambda packet: _is_of(packet, server_port)), MOST_PACKETS):
                examined += 1
                if connections.add(packet):
                    break
    except (OSError, CaptureError) as error:
        problems.append(str(error))
    return _handshake(connections, examined, problems)


def _is_of(packet: bytes, server_port: int) -> bool:
    """Whether another flow at the same link cannot have sent it."""
    headers = parse_headers(packet)
    return headers is None or server_port in (headers.source_port, headers.destination_port)


def _handshake(connections: Connections, examined: int, problems: list[str]) -> Handshake:
    connection, hellos = connections.furthest()
    quic = connection if isinstance(connection, QuicConnection) else None
    tcp = connection if isinstance(connection, TcpConnection) else None
    problems += connections.problems() + _missing(connections.server_port, examined, hellos, connection is None)
    client, server = hellos.client, hellos.server
    return Handshake(
        transport="quic" if quic else "tcp" if tcp else "none",
        tcp_payload_bytes=connections.payload_bytes(TcpConnection),
        udp_payload_bytes=connections.payload_bytes(QuicConnection),
        packets_examined=examined,
        tls_version=server.version if server else None,
        cipher_suite=server.cipher_suite if server else None,
        group=server.group if server else None,
        hello_retry_request=hellos.retry_request if hellos.retry_request or server else None,
        server_name=client.server_name if client else None,
        alpn_offered=client.alpn if client else (),
        groups_offered=client.groups if client else (),
        key_shares_offered=client.key_shares if client else (),
        psk_offered=client.pre_shared_key if client else None,
        resumed=server.pre_shared_key if server and server.version == "TLS 1.3" else None,
        early_data_offered=client.early_data if client else None,
        early_data_packets=quic.early_data_packets if quic else None,
        quic_version=quic.version if quic else None,
        quic_retry=quic.retry if quic else None,
        quic_version_negotiation=quic.version_negotiation if quic else None,
        quic_parameters_client=_parameters(client, problems),
        tcp_options_client=tcp.options("client") if tcp else None,
        tcp_options_server=tcp.options("server") if tcp else None,
        problems=tuple(dict.fromkeys(problems)),
    )


def _missing(server_port: int, examined: int, hellos: Hellos, no_payload: bool) -> list[str]:
    """Why fields stay empty that the hellos should have filled."""
    where = f"in the first {examined} packets"
    if no_payload:
        return [f"no TCP or UDP payload to or from port {server_port} {where}"]
    names = {"ClientHello": hellos.client, "ServerHello": hellos.server}
    problems = [f"no complete {name} {where}" for name, hello in names.items() if hello is None]
    if hellos.server and hellos.server.version != "TLS 1.3":
        problems.append(f"key-exchange group and resumption are told for TLS 1.3, not for {hellos.server.version}")
    return problems


def _parameters(client: ClientHello | None, problems: list[str]) -> dict[str, int | bool | str]:
    try:
        return parse_transport_parameters(client.quic_transport_parameters) if client else {}
    except MalformedError as error:
        problems.append(str(error))
        return {}
