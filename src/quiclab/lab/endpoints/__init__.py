# SPDX-License-Identifier: Apache-2.0
"""Real programs as endpoints: one file a program, behind one small Protocol.

A program's file in `clients`, `servers` or `proxies` declares what it can do (`protocols`, `knobs`, `abilities`) and
makes its command; it is one line of `_registry.py`, and `_api.py` is the Protocol. `_registry.objections` holds an
arm against what is declared before anything runs, and `_presence.look_for` asks whether its programs are here, in the
version asked for. `_stacks.py` finds those that `lab/stacks` installed, and starts them with the loader of their own
tree. Which program takes part in ECN: `ecn.py`; the congestion controls of senders, as they are in each version:
`senders.py`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quiclab.lab.endpoints._api import (
        Available,
        Command,
        Context,
        Endpoint,
        Foreign,
        KnowsOwnValues,
        Origin,
        PageContext,
        SendsByWindow,
        ServedHost,
        SizesDatagrams,
        Unsupported,
    )
    from quiclab.lab.endpoints._presence import Presence, label_of, look_for
    from quiclab.lab.endpoints._registry import ENDPOINTS, find, names_by_role, objections, objections_to
    from quiclab.lab.endpoints._upload import Uploads

__all__ = [
    "ENDPOINTS",
    "Available",
    "Command",
    "Context",
    "Endpoint",
    "Foreign",
    "KnowsOwnValues",
    "Origin",
    "PageContext",
    "Presence",
    "SendsByWindow",
    "ServedHost",
    "SizesDatagrams",
    "Unsupported",
    "Uploads",
    "find",
    "label_of",
    "look_for",
    "names_by_role",
    "objections",
    "objections_to",
]

_HOMES = {
    "_presence": ("Presence", "label_of", "look_for"),
    "_registry": ("ENDPOINTS", "find", "names_by_role", "objections", "objections_to"),
    "_upload": ("Uploads",),
}


def __getattr__(name: str) -> object:
    """Import a name when it is asked for: the client programs here need none of them, and start in every trial."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "_api")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
