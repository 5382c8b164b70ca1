# SPDX-License-Identifier: Apache-2.0
"""Pacing of TCP, which an arm asks for by `tcp.pacing`, once its servers listen."""

from __future__ import annotations

from quiclab.lab.runner.commands import ORIGIN_PORT
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.tcp_pacing import pace_connections
from quiclab.model import study


def pace(
    arm: study.Arm,
    at_front: NetworkNamespace,
    at_server: NetworkNamespace,
    origin: Process | None,
    front: Process,
    port: int,
) -> dict[str, int]:
    """Pace what is sent over TCP on either leg; `port` is the one that the client finds."""
    paced = {}
    if arm.protocol != "h3":
        paced["client"] = pace_connections(at_front, front.pid, port)
    if origin is not None and arm.origin_protocol != "h3":
        paced["origin"] = pace_connections(at_server, origin.pid, ORIGIN_PORT)
    return paced
