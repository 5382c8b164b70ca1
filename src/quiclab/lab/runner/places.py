# SPDX-License-Identifier: Apache-2.0
"""Places of a trial's programs: at the client, at the server, or on a node between two links."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES, node_addresses
from quiclab.lab.testbed.link_files import SECOND_NETWORK_FILES, link_files
from quiclab.model import study
from quiclab.model.address_change import second_link_name

CLIENT, SERVER = "client", "server"


def places(path: study.Path) -> tuple[str, ...]:
    """Places from client to server; `node-1` stands behind the first link."""
    return CLIENT, *(f"node-{number}" for number in range(1, len(path.links))), SERVER


def place_of(arm: study.Arm, path: study.Path, role: study.Role) -> str:
    """Place of a program in this role."""
    if role != "proxy" or arm.proxy_at == study.Arm.proxy_at:
        return CLIENT if role == "client" else SERVER
    return f"node-{1 + [link.name for link in path.links].index(arm.proxy_at)}"


def place_of_part(arm: study.Arm, path: study.Path, part: str) -> str:
    """Place of a part of a trial: throw-away clients ask the front over its own loopback, but for one that is to be
    given an address token, which is of the client's address."""
    if part == "client" or (part == "first-visit" and arm.client.knobs.address_token):
        return CLIENT
    return SERVER if part == "server" else front_place(arm, path)


def front_place(arm: study.Arm, path: study.Path) -> str:
    """Place of the front."""
    return place_of(arm, path, "proxy" if arm.proxy else "server")


def address_of(place: str, ip_version: int) -> str:
    """The address of a place."""
    known: Mapping[str, Mapping[int, str]] = {CLIENT: CLIENT_ADDRESSES, SERVER: SERVER_ADDRESSES}
    addresses = known[place] if place in known else node_addresses(int(place.removeprefix("node-")))
    return addresses[ip_version]


def links_document(arm: study.Arm, path: study.Path) -> list[dict[str, object]]:
    """The links for trial.json: each with its files and its leg; the client's leg ends at the front."""
    leg_links = places(path).index(front_place(arm, path))
    return [
        {"name": link.name, "leg": "client" if number < leg_links else "origin", **link_files(number)}
        for number, link in enumerate(path.links)
    ]


def second_link_document(path: study.Path, workload: study.Workload) -> dict[str, object] | None:
    """The client's link in the network to which it changes, for trial.json. It ends where the first of `links` does."""
    if workload.address_change is None:
        return None
    return {"name": second_link_name(path), **SECOND_NETWORK_FILES}
