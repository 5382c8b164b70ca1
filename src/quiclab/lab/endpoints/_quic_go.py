# SPDX-License-Identifier: Apache-2.0
"""Code that the client and the server around quic-go share; HTTP/2 and TLS are those of Go itself.

Both are one program of ours, programs/quic-go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Available, BoundedRun, Command, Context, OwnValues, Unsupported
from quiclab.lab.endpoints._job import discovery_conflict, job_command
from quiclab.lab.endpoints._stacks import find_program, why_absent
from quiclab.lab.endpoints._versions import ByVersion, Known
from quiclab.model.study import Knobs, Program
from quiclab.project import MORE_PROGRAMS

PROGRAM = "quiclab-quic-go"
KNOWN = Known("quic-go", "0.37", "0.65")
"""Read in its source: the tags 0.37.1 to 0.60.0, and 0.65.0."""
PAYLOAD: Mapping[str, Mapping[int, int]] = {"0.37": {4: 1252, 6: 1232}, "0.44": {4: 1280, 6: 1280}}
"""UDP payload of its first datagrams, by version and version of IP."""
_SINCE: Mapping[str, str] = {"scheduler": "0.42", "priorities": "0.42", "max_payload": "0.44", "address_token": "0.52"}
"""First version with what a knob needs: `http3.Server.ConnContext`, `quic.Config.InitialPacketSize`, and a form of
`quic.ClientToken` that our program can keep."""
_MOVES_SINCE = "0.51"
"""First version with `quic.Conn.AddPath`."""
_INSTALL = MORE_PROGRAMS
_GROUPS = ("x25519mlkem768", "x25519", "secp256r1", "secp384r1")
"""Groups in Go's own order of preference, which cannot be changed."""
_PAYLOAD = range(1200, 1453)
_INITIAL_WINDOW = 65535
"""Initial window of an HTTP/2 connection in bytes (RFC 9113 section 6.9.2)."""
_LARGEST = 2**31 - 1


def probe_quic_go(run: BoundedRun, prefix: str | None) -> Available | Unsupported:
    """Ask the program for the library's version and Go's, which it prints on a line each."""
    started = find_program(PROGRAM, prefix)
    if started is None or (text := run([*started.argv, "version"])) is None:
        return Unsupported(why_absent(PROGRAM, started), _INSTALL)
    versions = dict(line.split(maxsplit=1) for line in text.splitlines() if " " in line)
    return Available(f"{versions.get('quic-go', 'unknown')} (Go {versions.get('go', 'unknown')})", started.path)


def unsupported_by_quic_go(program: Program) -> str | None:
    """Reason why a value is not possible, whatever the role."""
    knobs = program.knobs
    if knobs.congestion_control not in (None, "reno"):
        return f"quic-go is New Reno only; congestion_control = {knobs.congestion_control!r} is not possible"
    if knobs.max_payload is not None and knobs.max_payload not in _PAYLOAD:
        return f"quic-go's max_payload is {_PAYLOAD.start} to {_PAYLOAD.stop - 1} bytes, not {knobs.max_payload}"
    moves = {"migration": _MOVES_SINCE} if knobs.migration == "active" else {}
    if (missing := KNOWN.lacking(program, moves, 'migration = "active"') or KNOWN.lacking(program, _SINCE)) is not None:
        return missing
    return discovery_conflict(knobs) or _wrong_groups(knobs) or wrong_window("stream_window", knobs, 1)


def wrong_window(name: Literal["stream_window", "connection_window"], knobs: Knobs, least: int) -> str | None:
    """Reason why a window is not possible: outside these bounds Go would silently use its own."""
    window = getattr(knobs, name)
    if window is None or least <= window.bytes <= _LARGEST:
        return None
    return f"{name} is {least} to {_LARGEST} bytes here, not {window.bytes}"


def packet_size(knobs: Knobs) -> str | ByVersion:
    """Size of quic-go's packets."""
    if knobs.max_payload is not None:
        return f"UDP payload {knobs.max_payload} bytes"
    sizes = " bytes" if knobs.path_mtu_discovery is False else " to 1452 bytes (path MTU discovery)"
    return {since: f"UDP payload {size[4]}{sizes}" for since, size in PAYLOAD.items()}


def sender_facts(program: Program) -> dict[str, str]:
    """Facts about quic-go as a sender."""
    knobs = program.knobs
    return KNOWN.traits(
        program,
        {
            "congestion_control": "New Reno with beta 0.7",
            "initial_window": "32 packets",
            "packet_size": packet_size(knobs),
            "pacing": "paced, in bursts of up to 10 packets",
            "gso": "off" if knobs.gso is False else "on",
            "ecn": "not marked" if knobs.ecn is False else "ECT(0)",
        },
    )


def own_values_of_quic_go(program: Program) -> OwnValues:
    """Values that quic-go has by itself, of both ends: `populateConfig`, `isGSOEnabled` and `isECNEnabled` in its
    source. Its windows grow until they are set, so that they have none; our program's own turns are none of its."""
    discovers = program.knobs.max_payload is None
    own: OwnValues = {"congestion_control": "reno", "gso": True, "ecn": True, "path_mtu_discovery": discovers}
    return KNOWN.own_values(program, own)


def quic_windows(knobs: Knobs) -> str:
    """Receive windows of quic-go; one that is set neither grows nor shrinks."""
    stream, connection = knobs.stream_window, knobs.connection_window
    return (
        f"QUIC stream window {stream or '512 KiB growing to 6 MiB'}, "
        f"connection window {connection or '768 KiB growing to 15 MiB'}"
    )


def least_connection_window(role: Literal["client", "server"]) -> int:
    """Least connection window over HTTP/2: Go's client adds its own to the initial one, and ignores one that is
    smaller."""
    return 2 * _INITIAL_WINDOW if role == "client" else _INITIAL_WINDOW


def quic_go_command(
    context: Context, mode: Literal["client", "server"], extra: Mapping[str, object] | None = None
) -> Command:
    """Start the program with two threads of Go at a time, so that the two ends leave cores for each other and the
    link."""
    started = find_program(PROGRAM, context.program.prefix)
    argv, env = (started.argv, started.env) if started else ((PROGRAM,), {})
    return job_command(context, argv, mode, env={**env, "GOMAXPROCS": "2"}, extra=extra)


def _wrong_groups(knobs: Knobs) -> str | None:
    asked = knobs.groups or ()
    if unknown := [group for group in asked if group not in _GROUPS]:
        return f"Go's TLS has no group {unknown[0]}"
    if list(asked) != sorted(asked, key=_GROUPS.index):
        return f"Go's TLS prefers groups in an order of its own: give them in the order {', '.join(_GROUPS)}"
    return None
