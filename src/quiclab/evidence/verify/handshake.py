# SPDX-License-Identifier: Apache-2.0
"""Facts that a client's connections prove about their handshake, with no key but those that anybody can derive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from quiclab.evidence.verify.connections import Connection
from quiclab.evidence.verify.wire import ClientSocket, Sender, Wire

_QUIC_VERSIONS = {"00000001": "v1", "6b3343cf": "v2"}
_WAYS: dict[Sender, str] = {"client": "up", "server": "down"}
_NO_TROUBLE = ("close_notify", "user_canceled")
"""Alerts that end a connection in order (RFC 8446 section 6.1)."""


@dataclass(frozen=True)
class Handshake:
    """The handshake of the first client socket with both hellos, else of the one that came furthest.

    None (or empty) means that the packets do not tell; `problems` says why.
    """

    transport: Literal["tcp", "quic", "none"] = "none"
    """Transport that carried this handshake; where there was none, the one that carried payload."""
    tls_version: str | None = None
    cipher_suite: str | None = None
    group: str | None = None
    """Group of the key exchange that the server chose."""
    hello_retry_request: bool | None = None
    alpn_offered: tuple[str, ...] = ()
    resumed: bool | None = None
    """True if the server accepted a pre-shared key (TLS 1.3), or sent no certificate, which it does in clear (1.2)."""
    early_data_offered: bool | None = None
    address_token: bool | None = None
    """True if the client's first Initial packet has a token; None of TCP, and where it is not seen."""
    early_data_packets: int | None = None
    """0-RTT packets of QUIC; whether they carried data only decrypting them tells."""
    quic_version: str | None = None
    quic_retry: bool | None = None
    quic_version_negotiation: bool | None = None
    quic_parameters_client: dict[str, int | bool | str] = field(default_factory=dict)
    """Transport parameters as sent; RFC 9000 section 18.2 has the units, and the defaults of absent ones."""
    problems: tuple[str, ...] = ()


def read_handshake(wire: Wire, connections: Sequence[Connection]) -> Handshake:
    """The handshake of a client whose packets are those of `wire`."""
    of_client: dict[str, list[Connection]] = {socket.name: [] for socket in wire.sockets}
    for connection in connections:
        of_client.get(connection.sockets[0], []).append(connection)
    socket = max(wire.sockets, key=lambda each: _progress(each, of_client[each.name]), default=None)
    if socket is None or not any(socket.payload_bytes.values()):
        return Handshake(problems=("no TCP or UDP payload to or from the server's port",))
    own = of_client[socket.name]
    told = [problem for each in of_client.values() for connection in each for problem in _problems(connection)]
    if not own:
        return Handshake(_transport(socket), problems=(*told, *_missing(None)))
    main = max(own, key=_hellos)
    return _handshake(socket, own, main, (*told, *_missing(main)))


def _handshake(socket: ClientSocket, own: Sequence[Connection], main: Connection, problems: Sequence[str]) -> Handshake:
    client, server = main.step("client_hello"), main.step("server_hello")
    offered, chosen = client.detail if client else {}, server.detail if server else {}
    is_quic = socket.protocol == "udp"
    retried = main.step("hello_retry_request") is not None
    has_retry = any(each.step("retry") for each in own)
    return Handshake(
        transport=_transport(socket),
        tls_version=chosen.get("version"),
        cipher_suite=chosen.get("cipher_suite"),
        group=_group(main),
        hello_retry_request=retried if retried or server else None,
        alpn_offered=tuple(offered.get("alpn", ())),
        resumed=_resumed(main),
        early_data_offered=offered.get("early_data"),
        # After a Retry the token is that of the Retry.
        address_token=bool(offered.get("token_bytes")) if is_quic and client and not has_retry else None,
        early_data_packets=sum(_early_data_packets(each) for each in own) if is_quic else None,
        quic_version=_version(main) if is_quic else None,
        quic_retry=has_retry if is_quic else None,
        quic_version_negotiation=_is_negotiated(own) if is_quic else None,
        quic_parameters_client=main.announced("parameters_set.client.") if is_quic else {},
        problems=tuple(dict.fromkeys(problems)),
    )


def _progress(socket: ClientSocket, own: Sequence[Connection]) -> tuple[bool, bool, bool, bool]:
    carried = socket.payload_bytes
    server, client = max((_hellos(each) for each in own), default=(False, False))
    return server, carried["server"] > 0, client, carried["client"] > 0


def _hellos(connection: Connection) -> tuple[bool, bool]:
    return connection.step("server_hello") is not None, connection.step("client_hello") is not None


def _transport(socket: ClientSocket) -> Literal["tcp", "quic"]:
    return "quic" if socket.protocol == "udp" else "tcp"


def _group(main: Connection) -> str | None:
    """Group that the ServerHello names, or in TLS 1.2 the ServerKeyExchange (RFC 8422 section 5.4), also in clear."""
    steps = (main.step("server_hello"), main.step("server_key_exchange"))
    return next((step.detail["group"] for step in steps if step and "group" in step.detail), None)


def _resumed(main: Connection) -> bool | None:
    hello = main.step("server_hello")
    if hello is not None and hello.detail["version"] == "TLS 1.3":
        return bool(hello.detail.get("pre_shared_key"))
    return False if main.step("certificate") else None


def _early_data_packets(connection: Connection) -> int:
    packets = connection.tables["packets"]
    is_early = (pl.col("packet_type") == "0RTT") & (pl.col("direction") == "up") & (pl.col("event") != "dropped")
    return packets.filter(is_early).height


def _version(main: Connection) -> str | None:
    number = main.parameters("version_information.").get("chosen_version")
    return None if number is None else _QUIC_VERSIONS.get(number, f"0x{number}")


def _is_negotiated(own: Sequence[Connection]) -> bool:
    return any(each.has_packets(pl.col("packet_type") == "version_negotiation") for each in own)


def _problems(connection: Connection) -> Iterator[str]:
    """Problems before the client's Finished was seen."""
    for sender, way in _WAYS.items():
        closed = pl.col("packet_type") == "initial", pl.col("packet_number").is_null()
        if connection.has_packets(*closed, pl.col("direction") == way):
            yield f"an Initial packet of the {sender} did not open"
    if any(step.name == "finished" and step.sender == "client" for step in connection.steps):
        return
    for name, value in connection.tables["parameters"].select("name", "value").iter_rows():
        for sender in _WAYS:
            if name == f"alert.{sender}.description" and value not in _NO_TROUBLE:
                yield f"the {sender} sent TLS alert {value}"
            if name == f"connection_closed.{sender}.connection_code" and value != "0":
                yield f"the {sender} closed the QUIC connection with error 0x{int(value):x}"


def _missing(main: Connection | None) -> list[str]:
    """Reasons why fields stay empty that the hellos should have filled."""
    seen = {step.name for step in main.steps} if main else set()
    names = {"ClientHello": "client_hello", "ServerHello": "server_hello"}
    return [f"no complete {name} is among the packets" for name, step in names.items() if step not in seen]
