# SPDX-License-Identifier: Apache-2.0
"""Uploads: endpoints that send or keep them, and the reasons why an arm cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, runtime_checkable

from quiclab.lab.endpoints._api import Endpoint
from quiclab.model.study import Arm, Program, Tcp
from quiclab.model.study import Protocol as HttpProtocol


@runtime_checkable
class Uploads(Endpoint, Protocol):
    """A client that sends objects, or a server that keeps them; a proxy that passes them on needs neither."""

    def unsupported_upload(self, program: Program) -> str | None:
        """Reason why the endpoint cannot with these settings, or None."""
        ...

    def upload_facts(self, program: Program, protocol: HttpProtocol, tcp: Tcp) -> Mapping[str, str]:
        """Describe what decides the speed of an upload: for clients what `traits` has for servers, and vice versa."""
        ...


def unsent(
    arm: Arm, client: Endpoint, server: Endpoint, proxy: Endpoint | None, known: Iterable[Endpoint]
) -> list[str]:
    """Reasons why an arm cannot upload, as clauses: a program that cannot, or a setting that does not go with that."""
    ends: list[tuple[Endpoint, Program, HttpProtocol, str]] = [
        (client, arm.client, arm.protocol, "send an object"),
        (server, arm.server, arm.origin_protocol if proxy else arm.protocol, "keep what is sent to it"),
    ]
    if proxy is not None and arm.proxy is not None:
        ends.append((proxy, arm.proxy, arm.protocol, "pass on what is sent to it as that comes"))
    found = []
    for end, program, protocol, task in ends:
        if isinstance(end, Uploads) and (why := end.unsupported_upload(program)) is not None:
            found.append(why)
        if "upload" not in end.abilities:
            able = [
                each.name
                for each in known
                if each.role == end.role and "upload" in each.abilities and protocol in each.protocols
            ]
            others = f"; {', '.join(able)} can" if able else ""
            found.append(f"the {end.role} {end.name} cannot {task}: unsupported{others}")
    if arm.protocol != "h3" and arm.tcp.pacing and arm.tcp.congestion_control != "bbr":
        found.append("an upload cannot be paced: it is the listening sockets that get a rate limit (tcp.pacing)")
    return found
