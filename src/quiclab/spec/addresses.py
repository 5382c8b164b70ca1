# SPDX-License-Identifier: Apache-2.0
"""Packets addressed by what a link can see of them without keys (`drop` and `spare`), read from a spec."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from quiclab.model.addresses import Addresses
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, WrongValueError, build

_BY_NUMBER = kinds.several(kinds.whole(0, 2**32 - 2), "an array of packet numbers from 0", least=1)


_COUNTED = kinds.several(kinds.whole(1, 2**32 - 2), "an array of numbers from 1", least=1)


_BYTES = kinds.several(kinds.whole(1, 2**53), "an array of numbers of bytes from 1", least=1)


ADDRESS_KEYS: Mapping[str, Kind[Any]] = {
    field.name: {"packet": _BY_NUMBER, "byte": _BYTES}.get(field.name, _COUNTED)
    for field in dataclasses.fields(Addresses)
}


def _read(node: Node) -> Addresses:
    addresses = build(Addresses, node, ADDRESS_KEYS)
    if not any(addresses):
        raise WrongValueError(f"no packet is addressed; write one of {', '.join(ADDRESS_KEYS)} with its numbers")
    found = list(addresses)
    for kind, number in found:
        if found.count((kind, number)) > 1:
            raise WrongValueError(f"{kind} {number} is addressed twice; write it once")
    return addresses


ADDRESSES: Kind[Addresses] = Kind("a table such as {initial = [1], large = [40]}", _read)
