# SPDX-License-Identifier: Apache-2.0
"""Reaction of senders to loss, for estimates of how long trials take."""

from __future__ import annotations

from quiclab.lab.endpoints._api import KeepsWindow, Role
from quiclab.lab.endpoints._registry import known
from quiclab.model.study import Arm, Study
from quiclab.plan.duration import Sender


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
