# SPDX-License-Identifier: Apache-2.0
"""`drop` and `spare`: packets that are addressed by what a link can see of them without keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, WrongValueError, build


@dataclass(frozen=True)
class Addresses:
    """Packets of one direction, each by its number among those of its kind that come to where the loss stands
    (`loss_at`).

    A trial tells which of them came. Flows that compete are counted too, and so is each further connection.
    """

    packet: tuple[int, ...] = ()
    """Numbers of packets as tables have them, from 0. All others count from 1."""
    large: tuple[int, ...] = ()
    """Packets of at least 600 bytes: data, and QUIC's padded Initial packets."""
    byte: tuple[int, ...] = ()
    """Bytes of IP packets: the packet that holds this byte."""
    initial: tuple[int, ...] = ()
    """UDP datagrams that begin with an Initial packet of QUIC (RFC 9000 section 17.2, RFC 9369). A datagram of several
    QUIC packets counts by the first of them."""
    handshake: tuple[int, ...] = ()
    """UDP datagrams that begin with a Handshake packet of QUIC."""
    syn: tuple[int, ...] = ()
    """SYN of TCP, and SYN-ACK."""
    segment: tuple[int, ...] = ()
    """Segments of TCP that carry data, those of the TLS handshake included."""

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Every address as its kind and number."""
        return ((field.name, number) for field in dataclasses.fields(self) for number in getattr(self, field.name))

    def __str__(self) -> str:
        return ", ".join(f"{kind} {number}" for kind, number in self)


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
