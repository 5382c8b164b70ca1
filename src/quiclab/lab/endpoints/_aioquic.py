# SPDX-License-Identifier: Apache-2.0
"""Code that the aioquic client and server share."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, OwnValues, Unsupported
from quiclab.lab.endpoints._stacks import find_python
from quiclab.lab.endpoints._versions import Known
from quiclab.model.study import Knobs, Program, Protocol
from quiclab.project import SET_UP

CONGESTION_CONTROLS = ("reno", "cubic")


KNOBS: Mapping[Protocol, frozenset[str]] = {"h3": frozenset({"congestion_control", "initial_rtt", "max_payload"})}
KNOWN = Known("aioquic", "1.7", "1.7")
"""Read in its source."""
BETA: Mapping[str, str] = {"reno": " with beta 0.5", "cubic": " with beta 0.7"}
DEFAULT_PAYLOAD = 1200
"""Payload of aioquic 1.7: no path MTU discovery. Its initial RTT is 0.1 s, shorter than the 333 ms of RFC 9002 section
6.2.2."""
ABILITIES: frozenset[Ability] = frozenset({"keylog", "qlog"})


def probe_aioquic(run: BoundedRun, prefix: str | None) -> Available | Unsupported:
    """Import the library and ask for its version."""
    python = find_python(prefix)
    text = run([*python.argv, "-c", "import aioquic; print(aioquic.__version__)"]) if python else None
    if python is None or text is None:
        return Unsupported("the Python package aioquic cannot be imported", SET_UP)
    return Available(text.strip(), python.path)


def unsupported_by_aioquic(program: Program) -> str | None:
    """Reason why aioquic cannot do what is asked, or None."""
    asked = program.knobs.congestion_control
    if asked not in (None, *CONGESTION_CONTROLS):
        return f"aioquic's congestion control is one of {', '.join(CONGESTION_CONTROLS)}, not {asked!r}"
    return None


def own_values_of_aioquic(program: Program) -> OwnValues:
    """Values that aioquic has by itself: the defaults of `QuicConfiguration`, in its source."""
    own: OwnValues = {"congestion_control": "reno", "initial_rtt": "100 ms", "max_payload": DEFAULT_PAYLOAD}
    return KNOWN.own_values(program, own)


def library_settings(knobs: Knobs) -> dict[str, object]:
    """Settings for aioquic's QuicConfiguration, by its own names: those that are asked for, as older releases do not
    have all of them."""
    settings: dict[str, object | None] = {
        "congestion_control_algorithm": knobs.congestion_control,
        "initial_rtt": knobs.initial_rtt.s if knobs.initial_rtt else None,
        "max_datagram_size": knobs.max_payload,
    }
    return {name: value for name, value in settings.items() if value is not None}
