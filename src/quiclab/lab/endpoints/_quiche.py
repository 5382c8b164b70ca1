# SPDX-License-Identifier: Apache-2.0
"""Code that the quiche client and server share: one program of ours around the library (crates/stack-quiche)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Available, BoundedRun, Command, Context, OwnValues, Unsupported
from quiclab.lab.endpoints._job import job_command, probe_program
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints._versions import Known
from quiclab.model.study import Program
from quiclab.model.units import Duration

PROGRAM = "quiclab-quiche"
KNOWN = Known("quiche", "0.22", "0.30")
"""Read in the source of 0.22.0 and of 0.30.0."""
_PACES_ALL: Mapping[str, bool] = {"0.22": True, "0.25": False}
"""True of versions that pace reno and cubic, too."""
_SINCE: Mapping[str, str] = {"initial_rtt": "0.24.5"}
"""First version with what a knob needs: `Config::set_initial_rtt`."""
DATAGRAM = 1200
"""UDP payload of a datagram without the knob `max_payload`."""
BETA: Mapping[str, str] = {"reno": " with beta 0.5", "cubic": " with beta 0.7"}
COMMON_KNOBS = frozenset(
    {"congestion_control", "initial_window", "pacing", "hystart", "connection_window", "stream_window"}
    | {"groups", "initial_rtt", "max_payload"}
)
_CONGESTION_CONTROLS = ("reno", "cubic", "bbr2")
_PAYLOADS = range(1200, 65528)
_LONGEST_ACK_DELAY = Duration.parse("16.384 s")


def probe_quiche(run: BoundedRun, prefix: str | None) -> Available | Unsupported:
    """Ask the program for the library's version."""
    return probe_program(run, PROGRAM, "quiche", prefix)


def unsupported_by_quiche(program: Program) -> str | None:
    """Reason why a value is not possible."""
    knobs = program.knobs
    chosen = knobs.congestion_control
    if (missing := KNOWN.lacking(program, _SINCE)) is not None:
        return missing
    if chosen == "bbr":
        return "quiche's bbr is another name for its bbr2: ask for bbr2"
    if chosen not in (None, *_CONGESTION_CONTROLS):
        return f"quiche's congestion control is one of {', '.join(_CONGESTION_CONTROLS)}, not {chosen!r}"
    if knobs.pacing and not can_pace(program):
        return f"quiche paces bbr2 only, not {chosen or 'cubic'}"
    if knobs.hystart is not None and chosen == "bbr2":
        return "quiche's bbr2 has no hystart"
    if knobs.ack_delay is not None and knobs.ack_delay.ns >= _LONGEST_ACK_DELAY.ns:
        return f"ack_delay must be shorter than {_LONGEST_ACK_DELAY} (RFC 9000 section 18.2)"
    if knobs.max_payload is not None and knobs.max_payload not in _PAYLOADS:
        return f"quiche's max_payload is from {_PAYLOADS[0]} to {_PAYLOADS[-1]} bytes, not {knobs.max_payload}"
    return None


def can_pace(program: Program) -> bool:
    """True if the congestion control that is in force is paced, unless the knob `pacing` says otherwise."""
    return program.knobs.congestion_control == "bbr2" or KNOWN.fact(program, _PACES_ALL)


def own_values_of_quiche(program: Program) -> OwnValues:
    """Values that quiche, and our program around it, have by themselves, of both ends: `Config::with_tls_ctx` in its
    source, and crates/stack-quiche. Its windows grow until they are set, so that they have none."""
    bbr2 = program.knobs.congestion_control == "bbr2"
    values: dict[str, str | int | float | bool] = {
        "congestion_control": "cubic",
        "initial_window": 10,
        "initial_rtt": "333 ms",
        "max_payload": DATAGRAM,
        "pacing": can_pace(program),
        "max_streams": 100,
        "gso": False,
        "scheduler": "fifo",
    }
    return KNOWN.own_values(program, values if bbr2 else values | {"hystart": True})


def quiche_command(context: Context, mode: Literal["client", "server"]) -> Command:
    """Start the program with its job in a file."""
    started = find_program(PROGRAM, context.program.prefix)
    argv, env = (started.argv, started.env) if started else ((PROGRAM,), {})
    return job_command(context, argv, mode, env=env)
