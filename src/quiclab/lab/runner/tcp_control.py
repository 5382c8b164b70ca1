# SPDX-License-Identifier: Apache-2.0
"""Congestion control that the kernel gave to the TCP connections of a trial, for every program on every leg."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from quiclab.lab.runner.commands import ORIGIN_PORT, PORT
from quiclab.lab.runner.places import CLIENT, SERVER, front_place
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.sampler import Side, tcp_congestion_control
from quiclab.model import study

_LOOK_S = 0.02


@dataclass(frozen=True)
class _Socket:
    """One end of a leg over TCP."""

    name: str
    """Name in trial.json: the program's role, and for a proxy the leg."""
    place: str
    port: int
    side: Side


def _sockets(arm: study.Arm, path: study.Path, upload: bool) -> list[_Socket]:
    front, found = front_place(arm, path), []
    if arm.protocol != "h3":
        found.append(_Socket("proxy" if arm.proxy else "server", front, PORT, "local"))
        if upload or arm.proxy is not None or arm.tcp.client_congestion_control is not None:
            found.append(_Socket("client", CLIENT, PORT, "remote"))
    if arm.proxy is not None and arm.origin_protocol != "h3":
        found.append(_Socket("server", SERVER, ORIGIN_PORT, "local"))
        if not arm.proxy_beside_server:  # over the loopback both ends have the server's
            found.append(_Socket("proxy_to_origin", front, ORIGIN_PORT, "remote"))
    return found


@contextmanager
def watch_congestion_control(
    arm: study.Arm,
    path: study.Path,
    namespaces: dict[str, NetworkNamespace],
    seen: dict[str, str],
    *,
    upload: bool,
) -> Iterator[None]:
    """Context in which the kernel is asked until every connection was seen once; its answers go into `seen`."""
    done = threading.Event()
    waiting = _sockets(arm, path, upload)

    def check() -> None:
        # Connections take a while to be made, and every check walks through the kernel's table.
        pause_s = max(_LOOK_S, 2 * path.base_rtt.s)
        while waiting and not done.wait(pause_s):
            for each in list(waiting):
                name = tcp_congestion_control(namespaces[each.place], path.ip_version, each.port, each.side)
                if name is not None:
                    seen[each.name] = name
                    waiting.remove(each)
            pause_s = _LOOK_S

    thread = threading.Thread(target=check)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
