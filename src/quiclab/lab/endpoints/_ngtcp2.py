# SPDX-License-Identifier: Apache-2.0
"""Code that ngtcp2's client and server share: both are its examples, built with GnuTLS."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.lab.endpoints._api import Available, BoundedRun, OwnValues, Unsupported
from quiclab.lab.endpoints._job import discovery_conflict
from quiclab.lab.endpoints._stacks import find_program, package_version, why_absent
from quiclab.lab.endpoints._versions import Known
from quiclab.model.study import Knobs, Program
from quiclab.project import MORE_PROGRAMS

KNOWN = Known("ngtcp2", "1.11", "1.11")
"""Read in its source and its help."""
DATAGRAM = 1200
"""UDP payload of a datagram before path MTU discovery has found that more goes through."""
BETA: Mapping[str, str] = {"reno": " with beta 0.5", "cubic": " with beta 0.7"}
_INSTALL = MORE_PROGRAMS
_CONGESTION_CONTROLS = ("reno", "cubic", "bbr")
_GNUTLS_GROUPS = {"x25519": "X25519", "secp256r1": "SECP256R1", "secp384r1": "SECP384R1"}


def probe_ngtcp2(run: BoundedRun, name: str, package: str, prefix: str | None) -> Available | Unsupported:
    """Look for the program by running its help."""
    started = find_program(name, prefix)
    if started is None or run([*started.argv, "--help"]) is None:
        return Unsupported(why_absent(name, started), _INSTALL)
    return Available(package_version(started, package) or "unknown", started.path)


def unsupported_by_ngtcp2(program: Program) -> str | None:
    """Reason why a value is not possible."""
    knobs = program.knobs
    if knobs.congestion_control not in (None, *_CONGESTION_CONTROLS):
        known = ", ".join(_CONGESTION_CONTROLS)
        return f"ngtcp2's congestion control is one of {known}, not {knobs.congestion_control!r}"
    if (conflict := discovery_conflict(knobs)) is not None:
        return conflict
    for group in knobs.groups or ():
        if group not in _GNUTLS_GROUPS:
            return f"ngtcp2 with GnuTLS has no group {group}"
    return None


def own_values_of_ngtcp2(program: Program) -> OwnValues:
    """Values that both programs have by themselves, by their help: --cc, --initial-rtt, --ack-thresh,
    --no-pmtud and --max-udp-payload-size."""
    own: OwnValues = {
        "congestion_control": "cubic",
        "initial_rtt": "333 ms",
        "ack_frequency": 2,
        "path_mtu_discovery": program.knobs.max_payload is None,
    }
    return KNOWN.own_values(program, own)


def common_options(knobs: Knobs) -> list[str]:
    """Options that both programs know by the same name."""
    options = []
    if knobs.congestion_control is not None:
        options.append(f"--cc={knobs.congestion_control}")
    if knobs.groups is not None:
        listed = ":".join(f"+GROUP-{_GNUTLS_GROUPS.get(group, group)}" for group in knobs.groups)
        options.append(f"--groups=-GROUP-ALL:{listed}")
    if knobs.ack_frequency is not None:
        options.append(f"--ack-thresh={knobs.ack_frequency}")
    if knobs.initial_rtt is not None:
        options.append(f"--initial-rtt={knobs.initial_rtt.ns}ns")
    if knobs.max_payload is not None:
        options.append(f"--max-udp-payload-size={knobs.max_payload}")
    if knobs.path_mtu_discovery is False:
        options.append("--no-pmtud")
    return options
