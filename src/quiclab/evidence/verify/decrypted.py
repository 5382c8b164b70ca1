# SPDX-License-Identifier: Apache-2.0
"""Facts that only opened packets prove: the handshake's second half, 0-RTT, migration, HTTP's own words.

Check that a QUIC connection moved to another address of the client, proven by path validation (RFC 9000 section
9).

Round trips that passed before the first request: one less than the client's flights up to it.

A flight of the client begins when it sends something new of the handshake, or the request, after something new of the
server's came. Acknowledgements and retransmissions begin none, so loss changes nothing, nor does the wait of a client
that sends refused 0-RTT data again only once it counts as lost. But an acknowledgement that frees a QUIC server from
the limit on what it may send to an unproven address (RFC 9000 section 8.1) counts, as it costs a round trip. A
congestion window that is smaller than a TCP server's certificates is not seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from quiclab.evidence.verify.connections import Connection, Packet
from quiclab.evidence.verify.delivered import HTTP_VERSIONS
from quiclab.evidence.verify.early_data_log import bytes_once
from quiclab.evidence.verify.wire import Sender
from quiclab.model.tables import Row

_AMPLIFICATION = 3
_NOT_TLS = ("ack", "retry", "version_negotiation", "handshake_done")
"""Steps that are nothing new of the handshake: what follows Retry and Version Negotiation is."""


@dataclass
class _Datagram:
    """Content of one IP packet."""

    sender: Sender
    payload_bytes: int
    kinds: set[str] = field(default_factory=set)
    new: bool = False
    crypto: bool = False
    """CRYPTO frames in an Initial packet."""
    request: bool = False
    token: bool = False


def handshake_round_trips(connection: Connection) -> int | None:
    """Count the round trips of one connection before its request; None if no request is among its packets."""
    flights = 0
    server_went_on = True
    begin_again = False
    limit = _AmplificationLimit()
    for datagram in _datagrams(connection):
        new = datagram.new
        if datagram.sender == "server":
            begin_again |= not datagram.kinds.isdisjoint({"retry", "version_negotiation"})
            server_went_on |= new or begin_again
            flights += limit.exceeded_by(datagram)
            continue
        if begin_again and datagram.crypto:  # The same ClientHello once more, in another connection attempt.
            new, begin_again = True, False
        if server_went_on and (new or datagram.request):
            flights += 1
            server_went_on = False
        limit.raised_by(datagram, new)
        if datagram.request:
            return flights - 1
    return None


def _datagrams(connection: Connection) -> Iterator[_Datagram]:
    """Datagrams up to the first request, told apart by their instants, which no two of one direction share."""
    requests = _request_times(connection)
    first_ns = min(requests, default=None)
    found: dict[tuple[int, Sender], _Datagram] = {}
    for packet in connection.packets(first_ns):
        at = (packet.time_ns, packet.sender)
        datagram = found.setdefault(at, _Datagram(packet.sender, packet.payload_bytes))
        if connection.is_quic and packet.kind is not None:
            datagram.kinds.add(packet.kind)
    for step in connection.steps:
        if step.name not in _NOT_TLS and (at := (step.time_ns, step.sender)) in found:
            found[at].new = True
            found[at].token |= bool(step.detail.get("token_bytes"))
    for frame in connection.frames("crypto"):
        if frame["packet_type"] == "initial" and frame["direction"] == "up":
            _mark(found, frame["time_ns"]).crypto = True
    if first_ns is not None:
        _mark(found, first_ns).request = True
    return iter(found[at] for at in sorted(found))


def _mark(found: dict[tuple[int, Sender], _Datagram], time_ns: int) -> _Datagram:
    return found.get((time_ns, "client")) or _Datagram("client", 0)


def _request_times(connection: Connection) -> list[int]:
    """HTTP/1.1, a HEADERS frame of HTTP/2, or data on a request stream. What was refused in 0-RTT does not count."""
    if not connection.is_quic:
        return connection.requests["send_start_ns"].drop_nulls().to_list()
    early = connection.early_data == "accepted"
    frames = connection.tables["frames"].filter(
        pl.col("frame_type") == "stream", pl.col("direction") == "up", pl.col("stream_id") % 4 == 0
    )
    return frames.filter((pl.col("packet_type") != "0RTT") | early)["time_ns"].to_list()


class _AmplificationLimit:
    """Three times what the client's flights so far brought; none once the client's address is proven."""

    def __init__(self) -> None:
        self._received = self._counted = self._sent = 0
        self._handshake_packet = False
        self._proven = False

    def raised_by(self, datagram: _Datagram, new: bool) -> None:
        """Take a datagram of the client's; what is no part of a flight raises the limit only when it is needed."""
        self._received += datagram.payload_bytes
        self._handshake_packet |= "handshake" in datagram.kinds
        self._proven |= not datagram.kinds or datagram.token
        if new or datagram.crypto:
            self._counted = self._received

    def exceeded_by(self, datagram: _Datagram) -> bool:
        """True if the server could send this datagram only because an acknowledgement of the client's had come."""
        self._sent += datagram.payload_bytes
        if self._proven or self._sent <= _AMPLIFICATION * self._counted:
            return False
        self._counted = self._received
        self._proven = self._handshake_packet
        return True


_SENDERS: dict[str, Sender] = {"up": "client", "down": "server"}


@dataclass(frozen=True)
class Migration:
    """Facts about a connection's change of path; None means that the packets do not tell."""

    address_changed: bool = False
    path_challenges: dict[str, int] = field(default_factory=dict)
    """Frames by sender."""
    path_responses: dict[str, int] = field(default_factory=dict)
    validated_by: tuple[Sender, ...] = ()
    """Ends whose PATH_CHALLENGE on the new path was answered."""
    migrated: bool | None = False
    """The new path was validated, and STREAM data flowed on it afterwards."""
    new_connection_id: bool | None = None
    """The client changed its Destination Connection ID with its address, as in a migration that it began by itself; a
    client whose address was changed by a NAT does not know (RFC 9000 section 9.5)."""
    new_path: dict[str, str | int] | None = None
    """The last one: the client's socket, its first packet in the capture, payload bytes by sender."""


@dataclass(frozen=True)
class _Carried:
    packet: Packet
    data: str


def read_migration(connection: Connection) -> Migration:
    """Read from the packets of one connection whether it migrated."""
    packets = list(connection.packets()) if len(connection.sockets) > 1 else []
    at = {(packet.time_ns, packet.sender, packet.kind, packet.packet_number): packet for packet in packets}

    def carried(kind: str) -> Iterator[_Carried]:
        for frame in connection.frames(kind):
            packet = at.get(_key(frame))
            if packet is not None:
                yield _Carried(packet, json.loads(frame["detail"] or "{}").get("data", ""))

    challenges, responses = list(carried("path_challenge")), list(carried("path_response"))
    counted = Migration(
        path_challenges=_by_sender(connection, "path_challenge"),
        path_responses=_by_sender(connection, "path_response"),
    )
    if not packets:
        return counted
    new = connection.sockets[-1]
    matched = [
        (challenge, response)
        for response in responses
        for challenge in challenges
        if challenge.data == response.data and challenge.packet.sender != response.packet.sender
        if challenge.packet.number < response.packet.number and challenge.packet.socket == new
    ]
    validated_at = min((response.packet.number for _, response in matched), default=None)
    streams = [packet for frame in connection.frames("stream") if (packet := at.get(_key(frame))) is not None]
    migrated: bool | None = validated_at is not None and any(
        packet.socket == new and packet.number > validated_at for packet in streams
    )
    if not migrated and any(packet.socket == new and packet.packet_number is None for packet in packets):
        migrated = None
    first = next(packet for packet in packets if packet.socket == new)
    return replace(
        counted,
        address_changed=True,
        validated_by=tuple(sorted({challenge.packet.sender for challenge, _ in matched})),
        migrated=migrated,
        new_connection_id=_takes_another_id(connection, first),
        new_path={"client_socket": new, "first_packet": first.number, **_payload(packets, new)},
    )


def _key(frame: Row) -> tuple[int, Sender, str | None, int | None]:
    return frame["time_ns"], _SENDERS[frame["direction"]], frame["packet_type"], frame["packet_number"]


def _takes_another_id(connection: Connection, first: Packet) -> bool:
    """True if the client's first packet from its new address bore an ID that none before had."""
    rows = connection.tables["parameters"].select("name", "time_ns").iter_rows()
    return any(name == "connection_id_updated.server" and time_ns >= first.time_ns for name, time_ns in rows)


def _by_sender(connection: Connection, kind: str) -> dict[str, int]:
    ways = [frame["direction"] for frame in connection.frames(kind)]
    return {sender: ways.count(way) for way, sender in _SENDERS.items()}


def _payload(packets: Sequence[Packet], socket: str) -> dict[str, str | int]:
    datagrams = {packet.number: packet for packet in packets if packet.socket == socket}.values()
    return {
        f"payload_bytes_{sender}": sum(each.payload_bytes for each in datagrams if each.sender == sender)
        for sender in ("client", "server")
    }


class ClosedError(Exception):
    """No packet was opened; the message says why."""


def opened_facts(
    found: Sequence[Connection], closed: str | None, protocol: str | None
) -> tuple[dict[str, object], dict[str, str]]:
    """Facts by name, None where the packets do not tell, and reasons. Raises ClosedError where nothing was opened.

    `found` are the client's connections, `closed` says why some of their packets may not have been read.

    They are of the connection with most packets among those that carried a request, and of these among those that
    spoke the version of HTTP that was asked for: a page has resources of other hosts, which may speak another.
    """
    if not found:
        raise ClosedError("the capture holds no connection")
    main = max(found, key=lambda each: _weight(each, protocol))
    if main.step("encrypted_extensions") is None and main.step("finished") is None:
        raise ClosedError(closed or "no packet that ends a handshake is among the packets")
    why: dict[str, str] = {}
    with_hello = [each for each in found if each.step("client_hello")]
    return {
        "connections": len(with_hello),
        **_handshake(main, why),
        **_http(main, why),
        **_migration(main, closed, why),
        "answers": [_answer(each) for each in with_hello],
    }, why


def _weight(connection: Connection, protocol: str | None) -> tuple[bool, bool, int]:
    wanted = HTTP_VERSIONS.get(protocol or "")
    return (
        handshake_round_trips(connection) is not None,
        wanted in connection.requests["http_version"],
        connection.tables["packets"].height,
    )


def _handshake(main: Connection, why: dict[str, str]) -> dict[str, object]:
    hello, extensions = main.step("server_hello"), main.step("encrypted_extensions")
    exchange = main.step("server_key_exchange")
    if extensions is None and hello is not None and hello.detail.get("version") == "TLS 1.3":
        closed = "the server's EncryptedExtensions stayed closed"
        why |= {"alpn": closed, "quic_parameters_server": closed}
        if main.early_data is None:
            why["early_data"] = closed
    early_data_bytes = _early_data_bytes(main, why)
    round_trips = handshake_round_trips(main)
    if round_trips is None:
        why["handshake_round_trips"] = why.get("early_data_bytes", "no request was among the packets")
    answer = extensions or hello
    return {
        "alpn": answer.detail.get("alpn") if answer else None,
        "tls_group": exchange.detail.get("group") if exchange else None,
        "handshake_round_trips": round_trips,
        "resumed": main.resumed,
        "early_data": main.early_data,
        "early_data_bytes": early_data_bytes,
        "quic_parameters_server": main.announced("parameters_set.server.") or None,
    }


def _early_data_bytes(main: Connection, why: dict[str, str]) -> int | None:
    """STREAM data sent in 0-RTT packets, each byte once."""
    if not main.offers_early_data:
        return 0
    if not main.is_quic:
        why["early_data_bytes"] = "not counted over TCP"
        return None
    if main.has_packets(pl.col("packet_type") == "0RTT", pl.col("packet_number").is_null()):
        why["early_data_bytes"] = "0-RTT packets stayed closed: the client logged no early traffic secret"
        return None
    early = main.tables["frames"].filter(
        pl.col("frame_type") == "stream", pl.col("packet_type") == "0RTT", pl.col("direction") == "up"
    )
    return bytes_once(early)


def _http(main: Connection, why: dict[str, str]) -> dict[str, object]:
    answered = main.requests.drop_nulls("status")
    first = answered.row(0, named=True) if answered.height else None
    if first is None:
        why["http_version_seen"] = "no response was among the packets"
        why["alt_svc"] = "the header fields of the response could not be read"
    return {
        "http_version_seen": first["http_version"] if first else None,
        "http_settings_client": main.announced("settings.client.") or None,
        "http_settings_server": main.announced("settings.server.") or None,
        "alt_svc": (first["alt_svc"] or "none") if first else None,
    }


def _migration(main: Connection, closed: str | None, why: dict[str, str]) -> dict[str, object]:
    seen = read_migration(main)
    if seen.migrated is None:
        why["migrated"] = f"packets on the new path stayed closed: {closed}" if closed else "packets stayed closed"
    return {
        "migrated": seen.migrated,
        "address_changed": seen.address_changed,
        "path_challenges": seen.path_challenges,
        "path_responses": seen.path_responses,
        "path_validated_by": list(seen.validated_by),
        "new_connection_id": bool(seen.new_connection_id),
        "new_path": seen.new_path or "none",
    }


def _answer(connection: Connection) -> dict[str, object]:
    """Answers to one connection of the client; a client that begins again elsewhere has several."""
    requests = connection.requests
    first = requests.row(0, named=True) if requests.height else {}
    asked = _fields(connection, "up")
    return {
        "client_socket": connection.sockets[0],
        "resumed": connection.resumed,
        "early_data": connection.early_data,
        "range_asked": asked.get("range"),
        "if_range": asked.get("if-range"),
        "status": first.get("status"),
        "content_range": first.get("content_range"),
    }


def _fields(connection: Connection, direction: str) -> dict[str, str]:
    """Header fields of the first HEADERS frame that one end sent."""
    frames = connection.tables["http_frames"].filter(
        pl.col("direction") == direction, pl.col("frame_type") == "headers", pl.col("detail").is_not_null()
    )
    return dict(json.loads(frames["detail"][0]).get("fields", ())) if frames.height else {}
