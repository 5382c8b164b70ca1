# SPDX-License-Identifier: Apache-2.0
"""Sizes of the packets that arms send first, or always, and paths that do not carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from quiclab.lab.endpoints._api import Role, SizesDatagrams
from quiclab.lab.endpoints._registry import known
from quiclab.model.study import Arm, Path, Program

_IP_AND_UDP_BYTES = {4: 20 + 8, 6: 40 + 8}


@dataclass(frozen=True)
class _Carried:
    """Largest IP packet of one direction of a path."""

    size_bytes: int
    hole: bool
    """True if larger ones vanish in the network, which the ends do not know; else it is the MTU of their devices."""
    told: bool = False
    """True if ICMP tells the senders of larger ones."""

    def raised(self, packet: int) -> str:
        """The key of the spec that says so, with a value at which a packet passes."""
        return f'oversize.above = "{packet} B"' if self.hole else f"mtu = {packet}"


def mtu_warnings(arms: Iterable[Arm], path: Path) -> list[str]:
    """Warnings, as sentences, about arms whose first datagrams, or full segments of TCP, a path does not carry."""
    found = []
    for arm in arms:
        if arm.protocol != "h3":
            found += _segment_warning(arm, path)
            continue
        front: tuple[Role, Program] = ("proxy" if arm.proxy else "server", arm.front)
        ends: tuple[tuple[Role, Program], ...] = (("client", arm.client), front)
        for role, program in ends:
            endpoint = known(role, program.name)
            if not isinstance(endpoint, SizesDatagrams):
                continue
            payload = endpoint.first_payload(program, path.ip_version)
            packet = payload + _IP_AND_UDP_BYTES[path.ip_version]
            carried = _carried(path, "up" if role == "client" else "down")
            if packet > carried.size_bytes:
                told = f"Path {path.name} carries packets of up to {carried.size_bytes} bytes, and the {role}"
                told += f" {program.name} of arm {arm.name} begins with {packet} (UDP payload {payload}), which never"
                told += " arrive: its trials fail, or take a timeout longer if it then tries smaller ones."
                found.append(f"{told} {_mend(endpoint, packet, path, carried)}")
    return found


def _segment_warning(arm: Arm, path: Path) -> list[str]:
    """A warning about TCP behind a black hole towards the client. Its ends know the MTU of their devices alone."""
    carried = _carried(path, "down")
    if not carried.hole or carried.told:
        return []
    return [
        f"Path {path.name} loses every packet of more than {carried.size_bytes} bytes on its way to the client, and "
        f"arm {arm.name} sends TCP segments of up to {path.mtu}: no full one arrives, and no ICMP message says so. "
        "Its trials fail, unless all of its segments are small. Where that is not what you want to show, write "
        f"{carried.raised(path.mtu)} or more."
    ]


def _carried(path: Path, side: Literal["up", "down"]) -> _Carried:
    """The largest packet that arrives in one direction from the start: what a schedule brings is not looked at."""
    effects = [getattr(link, side).oversize for link in path.links]
    holes = [each for each in effects if each and each.probability.value == 1 and each.after.ns == 0]
    narrowest = min(holes, key=lambda each: each.above, default=None)
    if narrowest is None or narrowest.above.bytes >= path.mtu:
        return _Carried(path.mtu, hole=False)
    return _Carried(narrowest.above.bytes, hole=True, told=narrowest.too_big == "icmp")


def _mend(endpoint: SizesDatagrams, packet: int, path: Path, carried: _Carried) -> str:
    most = carried.size_bytes - _IP_AND_UDP_BYTES[path.ip_version]
    knob = f" or max_payload = {most} on it" if "max_payload" in endpoint.knobs.get("h3", ()) else ""
    return f"Write {carried.raised(packet)} or more{knob}."
