# SPDX-License-Identifier: Apache-2.0
"""What only decrypted packets prove: the handshake's second half, 0-RTT, migration, HTTP's own words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quiclab.verify._answers import answers_of
from quiclab.verify._cursor import MalformedError
from quiclab.verify._http_seen import HttpSeen, read_http
from quiclab.verify._migration import Migration, read_migration
from quiclab.verify._opened import Opened, TlsMessage, open_packets
from quiclab.verify._round_trips import handshake_round_trips
from quiclab.verify._tls_names import group_name
from quiclab.verify._transport_parameters import parse_parameter_values
from quiclab.verify._tshark import UnopenedError, descendants, number, octets, text, tshark_version
from quiclab.verify.wire import Wire

_CLIENT_HELLO, _SERVER_HELLO, _ENCRYPTED_EXTENSIONS, _CERTIFICATE = 1, 2, 8, 11
_SERVER_KEY_EXCHANGE, _FINISHED = 12, 20
_ALPN, _EARLY_DATA, _SUPPORTED_VERSIONS, _QUIC_TRANSPORT_PARAMETERS = 16, 42, 43, 57

__all__ = ["Decrypted", "UnopenedError", "read_decrypted"]


@dataclass(frozen=True)
class Decrypted:
    """The first connection that carried a request, else the one with most packets. None: the packets do not tell."""

    connections: int
    """With a ClientHello."""
    alpn: str | None
    tls12_group: str | None
    """Of a ServerKeyExchange (RFC 8422 section 5.4)."""
    handshake_round_trips: int | None
    """Before the first request."""
    resumed: bool | None
    """TLS 1.2 too, where the server sends no certificate then."""
    early_data: str | None
    """`not_offered`, `accepted` or `rejected` (RFC 8446 section 4.2.10)."""
    early_data_bytes: int | None
    """STREAM data sent in 0-RTT packets, each byte once."""
    quic_parameters_server: dict[str, int | bool | str]
    http: HttpSeen
    migration: Migration
    answers: list[dict[str, Any]]
    """Of every connection with a ClientHello."""
    why: dict[str, str] = field(default_factory=dict)
    """Reasons, for fields that are None."""


def read_decrypted(capture: Path, key_log: Path, server_port: int, wire: Wire) -> Decrypted:
    """Ask tshark, once. Raises `UnopenedError` if nothing was decrypted, with the reason."""
    if not key_log.is_file() or not key_log.stat().st_size:
        raise UnopenedError("the client left no TLS keys (raw/keys.log)")
    try:
        return _read_all(open_packets(capture, key_log, server_port, wire), wire)
    except (ValueError, IndexError) as error:  # another version of tshark may print fields in another way
        raise UnopenedError(f"what tshark {tshark_version()} prints cannot be read: {error}") from error


def _read_all(packets: list[Opened], wire: Wire) -> Decrypted:
    connections: defaultdict[object, list[Opened]] = defaultdict(list)
    for packet in packets:
        connections[packet.socket if packet.connection is None else packet.connection].append(packet)
    if not connections:
        raise UnopenedError("tshark saw no handshake")
    main = max(connections.values(), key=lambda some: (handshake_round_trips(some, True) is not None, len(some)))
    others = [packet for packet in packets if packet.quic and packet.connection is None]
    if not any(message.kind in (_ENCRYPTED_EXTENSIONS, _FINISHED) for packet in main for message in packet.messages):
        raise UnopenedError("tshark could not decrypt the handshake: the keys do not fit, or packets are missing")
    with_hello = [some for some in connections.values() if _messages(some, "client", _CLIENT_HELLO)]
    return _read(main, others, wire, with_hello)


def _read(packets: list[Opened], others: list[Opened], wire: Wire, connections: Sequence[list[Opened]]) -> Decrypted:
    why: dict[str, str] = {}
    hello = next(iter(_messages(packets, "server", _SERVER_HELLO)), None)
    extensions = next(iter(_messages(packets, "server", _ENCRYPTED_EXTENSIONS)), None)
    answers = {**(hello.extensions() if hello else {}), **(extensions.extensions() if extensions else {})}
    offered = any(_EARLY_DATA in m.extensions() for m in _messages(packets, "client", _CLIENT_HELLO))
    early_data: str | None = "not_offered" if not offered else "accepted" if _EARLY_DATA in answers else "rejected"
    if extensions is None and hello is not None and _SUPPORTED_VERSIONS in answers:  # TLS 1.3
        closed = "the server's EncryptedExtensions stayed closed"
        why |= {"alpn": closed, "quic_parameters_server": closed}
        if offered:
            early_data, why["early_data"] = None, closed
    early_data_bytes = _early_data_bytes(packets, offered, why)
    round_trips = handshake_round_trips(packets, early_data == "accepted")
    if round_trips is None:
        why["handshake_round_trips"] = why.get("early_data_bytes", "no request was among the packets")
    exchange = next(iter(_messages(packets, "server", _SERVER_KEY_EXCHANGE)), None)
    curve = number(exchange.tree, "tls.handshake.server_named_curve") if exchange else None
    http = read_http(packets)
    if http.version is None:
        why["http_version_seen"] = "no response was among the packets"
    if not http.headers_read:
        why["alt_svc"] = "the header fields of the response could not be read"
    migration = read_migration(packets, others, wire)
    if migration.migrated is None:
        why["migrated"] = (
            "packets on the new path stayed closed: the client's connection IDs have no length"
            if wire.whole
            else "the capture keeps only the headers of packets on the new path"
        )
    return Decrypted(
        connections=len(connections),
        alpn=text(answers.get(_ALPN, ()), "tls.handshake.extensions_alpn_str"),
        tls12_group=None if curve is None else group_name(curve),
        handshake_round_trips=round_trips,
        resumed=_resumed(packets, hello),
        early_data=early_data,
        early_data_bytes=early_data_bytes,
        quic_parameters_server=_server_parameters(extensions, why),
        http=http,
        migration=migration,
        answers=answers_of(
            connections,
            lambda some: _resumed(some, next(iter(_messages(some, "server", _SERVER_HELLO)), None)),
            _early_data,
        ),
        why=why,
    )


def _messages(packets: Sequence[Opened], sender: str, kind: int) -> list[TlsMessage]:
    return [m for packet in packets if packet.sender == sender for m in packet.messages if m.kind == kind]


def _early_data(packets: Sequence[Opened]) -> str | None:
    """`not_offered`, `accepted` or `rejected`; None where no packet shows the server's answer."""
    if not any(_EARLY_DATA in message.extensions() for message in _messages(packets, "client", _CLIENT_HELLO)):
        return "not_offered"
    extensions = next(iter(_messages(packets, "server", _ENCRYPTED_EXTENSIONS)), None)
    if extensions is None:
        return None
    return "accepted" if _EARLY_DATA in extensions.extensions() else "rejected"


def _resumed(packets: Sequence[Opened], hello: TlsMessage | None) -> bool | None:
    """TLS 1.2: a server that resumes sends Finished and no certificate (RFC 5246 section 7.3). None where the handshake
    did not come to its end, or nothing was opened that shows it."""
    if hello is None or not _completed(packets):
        return None
    if number(hello.tree, "tls.handshake.extensions.supported_version") == 0x0304:
        return any(True for _ in descendants(hello.tree, "Pre-Shared Key extension"))
    return not _messages(packets, "server", _CERTIFICATE)


def _completed(packets: Sequence[Opened]) -> bool:
    """Either end's Finished, or a response: a server's Handshake packets that overtook its ServerHello stay closed."""
    finished = _messages(packets, "server", _FINISHED) or _messages(packets, "client", _FINISHED)
    answered = (kind == "1-RTT" for each in packets if each.sender == "server" for kind, _ in each.frames())
    return bool(finished) or any(answered)


def _early_data_bytes(packets: list[Opened], offered: bool, why: dict[str, str]) -> int | None:
    if not offered:
        return 0
    if not any(packet.quic for packet in packets):
        why["early_data_bytes"] = "not counted over TCP"
        return None
    sent = [quic for packet in packets if packet.sender == "client" for quic in packet.quic if quic.kind == "0-RTT"]
    if any(quic.frames is None for quic in sent):
        why["early_data_bytes"] = "0-RTT packets stayed closed: the client logged no early traffic secret"
        return None
    frames = {f for quic in sent for f in quic.frames or () if f.is_stream}
    ranges = {(f.stream_id, f.offset + at) for f in frames for at in range(len(f.data))}
    return len(ranges)


def _server_parameters(extensions: TlsMessage | None, why: dict[str, str]) -> dict[str, int | bool | str]:
    tree = extensions.extensions().get(_QUIC_TRANSPORT_PARAMETERS, ()) if extensions else ()
    parameters = [value for name, value in tree if name.startswith("Parameter: ")]
    raw = [(number(p, "tls.quic.parameter.type") or 0, octets(p, "tls.quic.parameter.value")) for p in parameters]
    try:
        return parse_parameter_values(raw)
    except MalformedError as error:
        why["quic_parameters_server"] = str(error)
        return {}
