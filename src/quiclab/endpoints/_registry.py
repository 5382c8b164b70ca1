# SPDX-License-Identifier: Apache-2.0
"""Every endpoint, listed by hand: adding one is one file, one line here, one test."""

from __future__ import annotations

import difflib

from quiclab.endpoints import command
from quiclab.endpoints._api import Endpoint, Role
from quiclab.endpoints.clients import aioquic as aioquic_client
from quiclab.endpoints.clients import curl_cffi
from quiclab.endpoints.servers import aioquic as aioquic_server
from quiclab.endpoints.servers import caddy
from quiclab.errors import SpecError

ENDPOINTS: tuple[Endpoint, ...] = (
    caddy.Caddy(),
    aioquic_server.AioquicServer(),
    command.CommandServer(),
    curl_cffi.CurlCffi(),
    aioquic_client.AioquicClient(),
    command.CommandClient(),
)


def find(role: Role, name: str) -> Endpoint:
    """The endpoint of that name and role. Raises SpecError with the closest name that exists."""
    names = [endpoint.name for endpoint in ENDPOINTS if endpoint.role == role]
    for endpoint in ENDPOINTS:
        if endpoint.role == role and endpoint.name == name:
            return endpoint
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise SpecError(f"there is no {role} called {name!r}", f"{hint}known: {', '.join(names)}")
