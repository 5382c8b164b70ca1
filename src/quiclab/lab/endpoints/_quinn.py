# SPDX-License-Identifier: Apache-2.0
"""Code that the quinn client and servers share: one program of ours around the library (crates/stack-quinn)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Available, BoundedRun, Command, Context, OwnValues, Unsupported
from quiclab.lab.endpoints._job import discovery_conflict, job_command, probe_program
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints._versions import Known
from quiclab.model.study import Knobs, Program
from quiclab.model.units import Duration

PROGRAM = "quiclab-quinn"
KNOWN = Known("quinn", "0.10", "0.11")
"""Read in its source, 0.10.2 with quinn-proto 0.10.6 and 0.11.12 with quinn-proto 0.11.19."""
BETA: Mapping[str, str] = {"reno": " with beta 0.5", "cubic": " with beta 0.7"}
COMMON_KNOBS = frozenset(
    {"congestion_control", "initial_window", "max_window", "connection_window", "stream_window", "groups"}
    | {"packet_threshold", "time_threshold", "initial_rtt", "gso", "ecn", "max_payload", "path_mtu_discovery"}
    | {"peer_ack_frequency", "peer_ack_delay"}
)
FIRST_PAYLOAD = 1200
"""UDP payload in bytes with which quinn starts."""
LARGEST_PAYLOAD = 1452
"""UDP payload in bytes up to which quinn's path MTU discovery probes."""
_SINCE: Mapping[str, str] = dict.fromkeys(
    ("ecn", "scheduler", "max_window", "peer_ack_frequency", "peer_ack_delay"), "0.11"
)
"""First version with which a knob is possible: of the library, or of our program around it."""
_NEW_GROUP = "x25519mlkem768"
_CONGESTION_CONTROLS = ("reno", "cubic", "bbr")
_INITIAL_RTTS = (Duration.parse("1 ms"), Duration.parse("60 s"))


def probe_quinn(run: BoundedRun, prefix: str | None) -> Available | Unsupported:
    """Ask the program for the library's version."""
    return probe_program(run, PROGRAM, "quinn", prefix)


def unsupported_by_quinn(program: Program) -> str | None:
    """Reason why a value is not possible."""
    knobs = program.knobs
    if (missing := _missing(program)) is not None:
        return missing
    chosen = knobs.congestion_control
    if chosen not in (None, *_CONGESTION_CONTROLS):
        return f"quinn's congestion control is one of {', '.join(_CONGESTION_CONTROLS)}, not {chosen!r}"
    least, most = _INITIAL_RTTS
    if knobs.initial_rtt is not None and not least.ns <= knobs.initial_rtt.ns <= most.ns:
        return f"quinn's initial_rtt is from {least} to {most}, not {knobs.initial_rtt}"
    if (conflict := discovery_conflict(knobs)) is not None:
        return conflict
    two_packets = 2 * (knobs.max_payload or LARGEST_PAYLOAD)
    if knobs.max_window is not None and knobs.max_window.bytes < two_packets:
        return f"quinn's max_window must hold two packets, which are {two_packets} bytes"
    return None


def _missing(program: Program) -> str | None:
    """Reason why an older release cannot do what is asked for."""
    if _NEW_GROUP in (program.knobs.groups or ()):
        return KNOWN.lacking(program, {"groups": "0.11"}, f"group {_NEW_GROUP}")
    # 0.10 keeps its connection ID at a new address.
    if program.knobs.migration == "active":
        return KNOWN.lacking(program, {"migration": "0.11"}, 'migration = "active"')
    return KNOWN.lacking(program, _SINCE)


def own_values_of_quinn(program: Program) -> OwnValues:
    """Values that quinn has by itself, of both ends: `TransportConfig::default` and the defaults of its congestion
    controllers, in its source. Its windows do not grow; that of a connection has no limit."""
    knobs = program.knobs
    values: dict[str, str | int | float | bool] = {
        "congestion_control": "cubic",
        "stream_window": "1.25 MB",
        "max_streams": 100,
        "scheduler": "round_robin",
        "packet_threshold": 3,
        "time_threshold": 1.125,
        "initial_rtt": "333 ms",
        "gso": True,
        "ecn": True,
        "path_mtu_discovery": knobs.max_payload is None,
    }
    if knobs.max_payload is None:
        # Its own window has so many packets of 1200 bytes, whatever the size of its packets.
        values["initial_window"] = _initial_packets(knobs)
    return KNOWN.own_values(program, values)


def _initial_packets(knobs: Knobs) -> int:
    return 200 if knobs.congestion_control == "bbr" else 10


def sending_facts(program: Program) -> dict[str, str]:
    """Facts about quinn as a sender. Its BBR is version 1 and documented as experimental."""
    knobs = program.knobs
    chosen = knobs.congestion_control or "cubic"
    packets = knobs.initial_window or _initial_packets(knobs)
    discovered = f"{FIRST_PAYLOAD} bytes"
    discovered += "" if knobs.path_mtu_discovery is False else f", up to {LARGEST_PAYLOAD} by path MTU discovery"
    facts = {
        "congestion_control": f"quinn {chosen}{BETA.get(chosen, '')}",
        "initial_window": f"{packets} packets of {knobs.max_payload or FIRST_PAYLOAD} bytes",
        "packet_size": f"UDP payload {f'{knobs.max_payload} bytes' if knobs.max_payload else discovered}",
        "pacing": "paced in bursts of 2 ms, at least 10 packets; timers of 1 ms",
        "ecn": "not marked" if knobs.ecn is False else "ECT(0)",
        "datagrams_per_system_call": "1" if knobs.gso is False else "up to 10 (UDP_SEGMENT)",
    }
    facts |= {"max_window": str(knobs.max_window)} if knobs.max_window else {}
    return KNOWN.traits(program, facts)


def quinn_command(
    context: Context, mode: Literal["client", "server"], extra: Mapping[str, object] | None = None
) -> Command:
    """Start the program with its job in a file."""
    started = find_program(PROGRAM, context.program.prefix)
    argv, env = (started.argv, started.env) if started else ((PROGRAM,), {})
    return job_command(context, argv, mode, env=env, extra=extra)
