# SPDX-License-Identifier: Apache-2.0
"""What Chromium's NetLog tells about one request: the protocol that carried it, and the number of connections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_REQUEST_EVENTS = {
    "HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS": "HTTP/3",
    "HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS": "HTTP/2",
    "HTTP_TRANSACTION_SEND_REQUEST_HEADERS": "HTTP/1.1",
}
"""Events at which a request's headers leave, one for each version of HTTP."""

_CONNECTION_EVENTS = ("QUIC_SESSION", "TCP_CONNECT_ATTEMPT")
_OTHER_EVENTS = (
    "URL_REQUEST_START_JOB",
    "QUIC_SESSION_VERSION_NEGOTIATED",
    "QUIC_SESSION_CLOSED",
    "SSL_CONNECT",
    "QUIC_SESSION_ZERO_RTT_STATE",
    "RESOURCE_SCHEDULER_REQUEST_STARTED",
)
_EARLY_DATA = {
    "NotAttempted": "not_offered",
    "AttemptedAndSucceeded": "accepted",
    "AttemptedAndRejected": "rejected",
}
"""Results of early data, by the word for a QUIC session's."""
_BEGIN = 1
"""Phase that begins an event with a duration."""

Event = Mapping[str, Any]


def proof_of(file: Path, url: str) -> dict[str, Any]:
    """Facts about a request, as far as the log has them: http_version, alpn, quic_version, number of connections, the
    network's error, and why the first QUIC session was closed."""
    lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    if not lines:
        return {}
    try:
        constants = json.loads(lines[0].rstrip(",") + "}")["constants"]
    except (ValueError, KeyError):
        return {}
    types: dict[str, int] = constants["logEventTypes"]
    errors = {number: name for name, number in constants["netError"].items()}
    wanted = {types[name]: name for name in (*_REQUEST_EVENTS, *_CONNECTION_EVENTS, *_OTHER_EVENTS) if name in types}
    events = list(_events(lines, wanted))
    mine = {
        event["source"]["id"]
        for name, event in events
        if name == "URL_REQUEST_START_JOB" and event.get("params", {}).get("url") == url
    }
    found: dict[str, Any] = {}
    for name, event in events:
        parameters = event.get("params", {})
        if event["source"]["id"] in mine:
            if name in _REQUEST_EVENTS:
                found["http_version"] = _REQUEST_EVENTS[name]
            elif parameters.get("net_error", 0) < 0:
                found["net_error"] = errors.get(parameters["net_error"], str(parameters["net_error"]))
        if name == "QUIC_SESSION_VERSION_NEGOTIATED":
            found["quic_version"] = parameters.get("version")
        if name == "QUIC_SESSION_CLOSED":
            found.setdefault("quic_closed", str(parameters.get("details", "")).partition(" SSLErrorStack")[0])
        if name == "QUIC_SESSION_ZERO_RTT_STATE" and parameters.get("state") in _EARLY_DATA:
            found.setdefault("early_data", _EARLY_DATA[parameters["state"]])
        if name == "SSL_CONNECT" and "next_proto" in parameters:
            found["alpn"] = parameters["next_proto"]
    if found.get("http_version") == "HTTP/3":
        found["alpn"] = "h3"
    found["connections"] = _connections(events)
    # The event is written only for requests that the browser did not send at once, when it sends them.
    found["requests_held_back"] = sum(name == "RESOURCE_SCHEDULER_REQUEST_STARTED" for name, _ in events)
    return found


def _connections(events: Iterable[tuple[str, Event]]) -> int:
    """Number of connections that the browser began, to any server."""
    return sum(name in _CONNECTION_EVENTS and event["phase"] == _BEGIN for name, event in events)


def _events(lines: Iterable[str], wanted: Mapping[int, str]) -> Iterator[tuple[str, Event]]:
    """Events of a log: Chromium writes one a line, its type last; the last line of a browser that was killed may be cut
    off."""
    for line in lines:
        number = line.rpartition('"type":')[2].rstrip(",]}")
        if not number.isdecimal() or int(number) not in wanted:
            continue
        try:
            event: Event = json.loads(line.rstrip(",]"))
        except ValueError:
            continue
        yield wanted[int(number)], event
