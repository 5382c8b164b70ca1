# SPDX-License-Identifier: Apache-2.0
"""Reading `address_change` of a workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.spec import kinds
from quiclab.spec.address_change import AddressChange
from quiclab.spec.network import Link, Path
from quiclab.spec.nodes import Kind, Node, ReportedError, build
from quiclab.spec.paths import LINK_KEYS, read_link

SECOND_LINK_KEYS: Mapping[str, Kind[Any]] = {key: kind for key, kind in LINK_KEYS.items() if key != "name"}
SECOND_LINK: Kind[Link] = Kind(
    'a table with the keys of a link, such as {rate = "2 Mbit/s", delay = "30 ms"}',
    lambda node: read_link(node, Path.mtu, SECOND_LINK_KEYS),
)
ADDRESS_CHANGE_KEYS: Mapping[str, Kind[Any]] = {
    "after": kinds.SIZE,
    "at": kinds.TIMEOUT,
    "notice": kinds.choice(("told", "reset", "timeout")),
    "timeout": kinds.TIMEOUT,
    "link": SECOND_LINK,
}


def _read(node: Node) -> AddressChange:
    change = build(AddressChange, node, ADDRESS_CHANGE_KEYS)
    problems = []
    if (change.after is None) == (change.at is None):
        problems.append('it happens after a number of bytes or at a time: write either "after" or "at"')
    if (change.notice == "timeout") != (change.timeout is not None):
        problems.append('notice = "timeout" and "timeout" need each other')
    for problem in problems:
        node.report(problem)
    if problems:
        raise ReportedError
    return change


ADDRESS_CHANGE: Kind[AddressChange] = Kind('a table such as {after = "2 MB"}', _read)
