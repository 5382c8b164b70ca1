# SPDX-License-Identifier: Apache-2.0
"""Programs by the registry of endpoints, so that a new one is in every test that tries them all."""

from __future__ import annotations

from quiclab.lab.endpoints import ENDPOINTS
from quiclab.lab.endpoints.command import CommandClient, CommandProxy, CommandServer

_TEMPLATES = (CommandClient, CommandServer, CommandProxy)
"""A user's own program, whatever it is."""

CLIENTS = tuple(
    endpoint.name
    for endpoint in ENDPOINTS
    if endpoint.role == "client" and "pages" not in endpoint.abilities and not isinstance(endpoint, _TEMPLATES)
)
"""Without the browsers, which take seconds to start."""
_SERVERS = tuple(
    endpoint.name for endpoint in ENDPOINTS if endpoint.role == "server" and not isinstance(endpoint, _TEMPLATES)
)
SERVERS = tuple(name for name in _SERVERS if not any(name.startswith(f"{other}-") for other in _SERVERS))
"""Without variants such as `quinn-time-threshold`."""
PROXIES = tuple(
    endpoint.name for endpoint in ENDPOINTS if endpoint.role == "proxy" and not isinstance(endpoint, _TEMPLATES)
)
