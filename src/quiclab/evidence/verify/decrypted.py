# SPDX-License-Identifier: Apache-2.0
"""Facts that only opened packets prove: the handshake's second half, 0-RTT, migration, HTTP's own words."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from quiclab.evidence.verify.connections import Connection
from quiclab.evidence.verify.early_data_log import bytes_once
from quiclab.evidence.verify.migration import read_migration
from quiclab.evidence.verify.round_trips import handshake_round_trips

_HTTP_VERSIONS = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}


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
    wanted = _HTTP_VERSIONS.get(protocol or "")
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
