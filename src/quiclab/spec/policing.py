# SPDX-License-Identifier: Apache-2.0
"""`block` and `police`: what an operator does to a transport that it does not trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.model.study import Block, Police
from quiclab.model.units import ByteCount
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, build

_TRANSPORT = kinds.choice(("udp", "tcp"))
BLOCK_KEYS: Mapping[str, Kind[Any]] = {"protocol": _TRANSPORT, "after": kinds.INSTANT}
POLICE_KEYS: Mapping[str, Kind[Any]] = {
    "protocol": _TRANSPORT,
    "rate": kinds.RATE,
    "burst": kinds.quantity(ByteCount, "a burst", "64 KB", ByteCount(576), ByteCount(10**9)),
    "after": kinds.INSTANT,
}
BLOCK: Kind[Block] = Kind('a table such as {protocol = "udp"}', lambda node: build(Block, node, BLOCK_KEYS))
POLICE: Kind[Police] = Kind(
    'a table such as {protocol = "udp", rate = "5 Mbit/s", burst = "64 KB"}',
    lambda node: build(Police, node, POLICE_KEYS),
)
