# SPDX-License-Identifier: Apache-2.0
"""Senders by what their programs declare: their reaction to loss, for estimates of how long trials take, and their
initial window."""

from __future__ import annotations

import re

from quiclab.lab.endpoints._api import KeepsWindow, Role
from quiclab.lab.endpoints._registry import known
from quiclab.model.study import Arm, Study
from quiclab.plan.duration import Sender

_PACKETS = re.compile(r"(\d+) packets(?: of \d+ bytes)?(?: \(as of [^)]*\))?")
"""An initial window as programs declare it; what is said of it beyond that is no number of packets."""


def declared_packets(initial_window: str) -> int | None:
    """Return the packets of an initial window as a program declares it; None where that is no number of packets."""
    found = _PACKETS.fullmatch(initial_window)
    return int(found[1]) if found else None


def senders_of(study: Study) -> dict[str, Sender]:
    """Return the sender of each arm, as its programs' facts have it."""
    return {arm.name: _sender(arm) for arm in study.arms}


def _sender(arm: Arm) -> Sender:
    role: Role = "proxy" if arm.proxy else "server"
    if arm.protocol != "h3":
        return Sender(ignores_loss=arm.tcp.congestion_control_of(role) == "bbr")
    endpoint = known(role, arm.front.name)
    if endpoint is None:
        return Sender()
    controller = endpoint.traits(arm.front, "h3", arm.tcp).get("congestion_control", "")
    if isinstance(endpoint, KeepsWindow):
        return Sender("bbr" in controller, endpoint.least_window(arm.front))
    return Sender("bbr" in controller)
