# SPDX-License-Identifier: Apache-2.0
"""Sizes of the first datagrams of QUIC programs, and paths that do not carry them."""

from __future__ import annotations

from collections.abc import Iterable

from quiclab.lab.endpoints._api import Role, SizesDatagrams
from quiclab.lab.endpoints._registry import known
from quiclab.model.study import Arm, Path, Program

_IP_AND_UDP_BYTES = {4: 20 + 8, 6: 40 + 8}


def mtu_warnings(arms: Iterable[Arm], path: Path) -> list[str]:
    """Warnings, as sentences, about arms whose first datagrams a path does not carry."""
    found = []
    for arm in arms:
        if arm.protocol != "h3":
            continue
        front: tuple[Role, Program] = ("proxy" if arm.proxy else "server", arm.front)
        ends: tuple[tuple[Role, Program], ...] = (("client", arm.client), front)
        for role, program in ends:
            endpoint = known(role, program.name)
            if not isinstance(endpoint, SizesDatagrams):
                continue
            payload = endpoint.first_payload(program, path.ip_version)
            packet = payload + _IP_AND_UDP_BYTES[path.ip_version]
            if packet > path.mtu:
                told = f"Path {path.name} carries packets of up to {path.mtu} bytes, and the {role} {program.name} of"
                told += f" arm {arm.name} begins with {packet} (UDP payload {payload}), which never arrive: its trials"
                told += " fail, or take a timeout longer if it then tries smaller ones."
                found.append(f"{told} {_mend(endpoint, packet, path)}")
    return found


def _mend(endpoint: SizesDatagrams, packet: int, path: Path) -> str:
    most = path.mtu - _IP_AND_UDP_BYTES[path.ip_version]
    knob = f" or max_payload = {most} on it" if "max_payload" in endpoint.knobs.get("h3", ()) else ""
    return f"Write mtu = {packet} or more{knob}."
