# SPDX-License-Identifier: Apache-2.0
"""What only opened packets prove: the handshake's second half, 0-RTT, migration, HTTP's own words."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import polars as pl

from quiclab.metrics.intervals import IntervalSet
from quiclab.verify.migration import read_migration
from quiclab.verify.responses import closed_because
from quiclab.verify.round_trips import handshake_round_trips
from quiclab.verify.seen import Connection, connections

_HTTP_VERSIONS = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_FLAGS = ("disable_active_migration", "grease_quic_bit")
_INTEGERS = (
    *("max_idle_timeout", "max_udp_payload_size", "initial_max_data", "initial_max_stream_data_bidi_local"),
    *("initial_max_stream_data_bidi_remote", "initial_max_stream_data_uni", "initial_max_streams_bidi"),
    *("initial_max_streams_uni", "ack_delay_exponent", "max_ack_delay", "active_connection_id_limit"),
    *("max_datagram_frame_size", "min_ack_delay"),
)
"""Transport parameters that are integers (RFC 9000 section 18.2, RFC 9221, and the draft on ACK frequency)."""
_OF_TLS = ("tls_cipher", "tls_group")
"""Names of the qlog event that are no transport parameters."""


class ClosedError(Exception):
    """Nothing was opened; the message says why."""


def opened_facts(
    tables: Mapping[str, pl.DataFrame], document: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Facts by name, None where the packets do not tell, and reasons. Raises ClosedError where nothing was opened.

    They are of the connection with most packets among those that carried a request, and of these among those that
    spoke the version of HTTP that was asked for: a page has resources of other hosts, which may speak another.
    """
    found = connections(tables, document)
    if not found:
        raise ClosedError("the capture holds no connection")
    main = max(found, key=lambda each: _weight(each, document))
    if main.step("encrypted_extensions") is None and main.step("finished") is None:
        raise ClosedError(closed_because(tables, document) or "no packet that ends a handshake is among the packets")
    why: dict[str, str] = {}
    with_hello = [each for each in found if each.step("client_hello")]
    return {
        "connections": len(with_hello),
        **_handshake(main, why),
        **_http(main, why),
        **_migration(main, closed_because(tables, document), why),
        "answers": [_answer(each) for each in with_hello],
    }, why


def _weight(connection: Connection, document: Mapping[str, Any]) -> tuple[bool, bool, int]:
    wanted = _HTTP_VERSIONS.get(document.get("protocol", ""))
    return (
        handshake_round_trips(connection) is not None,
        wanted in connection.requests["http_version"],
        connection.tables["packets"].height,
    )


def _handshake(main: Connection, why: dict[str, str]) -> dict[str, Any]:
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
        "quic_parameters_server": _parameters(main, "parameters_set.server.") or None,
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
    sent: defaultdict[int, IntervalSet] = defaultdict(IntervalSet)
    spans = early.select("stream_id", pl.col("offset").fill_null(0), pl.col("length_bytes").fill_null(0)).iter_rows()
    return sum(sent[stream_id].add_length(offset, offset + length) for stream_id, offset, length in spans)


def _parameters(main: Connection, prefix: str) -> dict[str, int | bool | str]:
    """As sent: integers, True for flags, else as hexadecimal digits."""
    told: dict[str, int | bool | str] = {}
    for name, value in main.parameters(prefix).items():
        if name in _INTEGERS or not prefix.startswith("parameters_set"):
            told[name] = int(value)
        elif name not in _OF_TLS:
            told[name] = True if name in _FLAGS else "".join(json.loads(value)) if value.startswith("[") else value
    return told


def _http(main: Connection, why: dict[str, str]) -> dict[str, Any]:
    answered = main.requests.drop_nulls("status")
    first = answered.row(0, named=True) if answered.height else None
    if first is None:
        why["http_version_seen"] = "no response was among the packets"
        why["alt_svc"] = "the header fields of the response could not be read"
    return {
        "http_version_seen": first["http_version"] if first else None,
        "http_settings_client": _parameters(main, "settings.client.") or None,
        "http_settings_server": _parameters(main, "settings.server.") or None,
        "alt_svc": (first["alt_svc"] or "none") if first else None,
    }


def _migration(main: Connection, closed: str | None, why: dict[str, str]) -> dict[str, Any]:
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


def _answer(connection: Connection) -> dict[str, Any]:
    """What one connection of the client was answered: one that begins again after a change of address has more."""
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
