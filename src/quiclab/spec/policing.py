# SPDX-License-Identifier: Apache-2.0
"""`block` and `police`: what an operator does to a transport that it does not trust."""

from __future__ import annotations

from quiclab.model.study import Block, Police
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, build

BLOCK_KEYS = kinds.keys_of(Block)
POLICE_KEYS = kinds.keys_of(Police)
BLOCK: Kind[Block] = Kind('a table such as {protocol = "udp"}', lambda node: build(Block, node, BLOCK_KEYS))
POLICE: Kind[Police] = Kind(
    'a table such as {protocol = "udp", rate = "5 Mbit/s", burst = "64 KB"}',
    lambda node: build(Police, node, POLICE_KEYS),
)
