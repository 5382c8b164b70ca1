# SPDX-License-Identifier: Apache-2.0
"""Real programs as endpoints: one file a program, behind one small Protocol."""

from quiclab.endpoints._api import (
    Available,
    Command,
    Context,
    Endpoint,
    Foreign,
    Origin,
    PageContext,
    ServedHost,
    Unsupported,
)
from quiclab.endpoints._presence import Presence, look_for
from quiclab.endpoints._registry import ENDPOINTS, find, names_by_role, objections
from quiclab.endpoints._stacks import stacks_folder
from quiclab.endpoints._upload import Uploads

__all__ = [
    "ENDPOINTS",
    "Available",
    "Command",
    "Context",
    "Endpoint",
    "Foreign",
    "Origin",
    "PageContext",
    "Presence",
    "ServedHost",
    "Unsupported",
    "Uploads",
    "find",
    "look_for",
    "names_by_role",
    "objections",
    "stacks_folder",
]
