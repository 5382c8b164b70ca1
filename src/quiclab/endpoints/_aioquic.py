# SPDX-License-Identifier: Apache-2.0
"""What the aioquic client and server share."""

from __future__ import annotations

import sys

from quiclab.endpoints._api import Available, BoundedRun, Unsupported
from quiclab.spec.model import Program, Protocol

CONGESTION_CONTROLS = ("reno", "cubic")


def probe_aioquic(run: BoundedRun) -> Available | Unsupported:
    """Import the library and ask for its version."""
    text = run([sys.executable, "-c", "import aioquic; print(aioquic.__version__)"])
    if text is None:
        return Unsupported("the Python package aioquic cannot be imported", "make setup")
    return Available(text.strip(), sys.executable)


def unsupported_by_aioquic(program: Program, protocol: Protocol) -> str | None:
    """Why aioquic cannot do what is asked, or None."""
    if protocol != "h3":
        return f"aioquic speaks HTTP/3 only, not {protocol}"
    if program.congestion_control not in (None, *CONGESTION_CONTROLS):
        known = ", ".join(CONGESTION_CONTROLS)
        return f"aioquic's congestion control is one of {known}, not {program.congestion_control!r}"
    return None
