# SPDX-License-Identifier: Apache-2.0
"""NetLogs of servers on Chromium's stack: what the server sent went down, and what it received came up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quiclab.logs.decoders import Context, End, FileTables
from quiclab.logs.decoders.netlog import NetLog

_TYPES = (
    *("QUIC_SESSION", "QUIC_SESSION_PACKET_SENT", "QUIC_SESSION_PACKET_RECEIVED"),
    *("QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED", "QUIC_SESSION_PACKET_AUTHENTICATED"),
    *("QUIC_SESSION_CRYPTO_HANDSHAKE_MESSAGE_RECEIVED", "QUIC_SESSION_CRYPTO_HANDSHAKE_MESSAGE_SENT"),
    *("QUIC_SESSION_STREAM_FRAME_SENT", "QUIC_SESSION_STREAM_FRAME_RECEIVED", "QUIC_SESSION_CLOSED"),
    "QUIC_SIMPLE_SERVER_SESSION_STARTED",
)
_PREFIX = "QUIC_SESSION_"
_SENT = {"encryption_level": "ENCRYPTION_FORWARD_SECURE", "packet_number": 2, "size": 1100, "sent_time_us": 1_002_000}


def _event(name: str, time: int, phase: int = 0, **params: Any) -> dict[str, Any]:
    source = {"id": 2, "type": 2, "start_time": "1000"}
    event = {"type": _TYPES.index(name), "time": str(time), "phase": phase, "source": source}
    return event | ({"params": params} if params else {})


def _decoded(folder: Path, sign: list[dict[str, Any]], context: Context = Context()) -> FileTables:  # noqa: B008
    """A session that receives 100 bytes of stream 5 and sends 1,000 of it, after events that tell its end or do not."""
    events = [
        _event("QUIC_SESSION", 1000, 1),
        *sign,
        _event(f"{_PREFIX}PACKET_RECEIVED", 1001, size=200),
        _event(f"{_PREFIX}UNAUTHENTICATED_PACKET_HEADER_RECEIVED", 1001, packet_number=1),
        _event(f"{_PREFIX}PACKET_AUTHENTICATED", 1001),
        _event(f"{_PREFIX}STREAM_FRAME_RECEIVED", 1001, stream_id=5, offset=0, length=100, fin=True),
        _event(f"{_PREFIX}STREAM_FRAME_SENT", 1002, stream_id=5, offset=0, length=1000, fin=False),
        _event(f"{_PREFIX}PACKET_SENT", 1002, **_SENT),
        _event(f"{_PREFIX}CLOSED", 1003, from_peer=True, quic_error=0, details="x"),
    ]
    constants = {
        "logFormatVersion": 1,
        "logEventTypes": {name: number for number, name in enumerate(_TYPES)},
        "logEventPhase": {"PHASE_NONE": 0, "PHASE_BEGIN": 1, "PHASE_END": 2},
        "clientInfo": {"name": "x", "version": "1", "os_type": "Linux"},
        "timeTickOffset": "1700000000000",
    }
    path = folder / "netlog.json"
    path.write_text(json.dumps({"constants": constants, "events": events}))
    return NetLog().decode(path, context)


def _told(file: FileTables) -> tuple[object, ...]:
    packets = file.tables["packets"].select("vantage", "event", "direction").rows()
    (stream,) = file.tables["streams"].select("vantage", "up_bytes", "down_bytes", "up_end").rows()
    names = [name for name in file.tables["parameters"]["name"] if name.startswith("connection_closed")]
    return packets, stream, names


def _of(end: str, up: str, down: str, stream: tuple[int, int, str | None], closer: str) -> tuple[object, ...]:
    packets = [(end, "received", down), (end, "sent", up)]
    names = [f"connection_closed.{closer}.connection_error", f"connection_closed.{closer}.reason"]
    return packets, (end, *stream), names


SERVER = _of("server", "down", "up", (100, 1000, "fin"), "client")
CLIENT = _of("client", "up", "down", (1000, 100, None), "server")
_HELLO = {"quic_crypto_handshake_message": 'CHLO<\n  SNI : "a.test"\n>'}


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        ([_event(f"{_PREFIX}CRYPTO_HANDSHAKE_MESSAGE_RECEIVED", 1000, **_HELLO)], SERVER),
        ([_event(f"{_PREFIX}CRYPTO_HANDSHAKE_MESSAGE_SENT", 1000, **_HELLO)], CLIENT),
        ([_event("QUIC_SIMPLE_SERVER_SESSION_STARTED", 1000)], SERVER),
        (
            [_event(f"{_PREFIX}UNAUTHENTICATED_PACKET_HEADER_RECEIVED", 1000, long_header_type="INITIAL")],
            SERVER,
        ),
        ([], CLIENT),
    ],
)
@pytest.mark.parametrize("given", [None, "client"])
def test_a_log_says_which_end_it_is_from(
    sign: list[dict[str, Any]], expected: tuple[object, ...], given: End | None, tmp_path: Path
) -> None:
    """A server is known by its hello, its sessions' names, or by sending second, whatever the caller thinks."""
    assert _told(_decoded(tmp_path, sign, Context(vantage=given))) == expected


def test_the_caller_may_say_it_where_the_log_does_not(tmp_path: Path) -> None:
    """A session that the log does not show from its beginning."""
    _decoded(tmp_path, [])
    path = tmp_path / "netlog.json"
    log = json.loads(path.read_text())
    path.write_text(json.dumps(log | {"events": log["events"][1:]}))
    assert _told(NetLog().decode(path, Context(vantage="server"))) == SERVER
    assert _told(NetLog().decode(path, Context())) == CLIENT


def test_rows_that_are_taken_while_reading_are_turned_too(tmp_path: Path) -> None:
    """With a callback as without."""
    sign = [_event(f"{_PREFIX}CRYPTO_HANDSHAKE_MESSAGE_RECEIVED", 1000, **_HELLO)]
    whole = _decoded(tmp_path, sign)
    taken: dict[str, int] = {}
    rest = NetLog().decode(tmp_path / "netlog.json", Context(), lambda name, rows: taken.__setitem__(name, rows.height))
    for name, rows in whole.tables.items():
        assert taken.get(name, 0) + (rest.tables[name].height if name in rest.tables else 0) == rows.height
