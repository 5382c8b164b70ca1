# SPDX-License-Identifier: Apache-2.0
"""`drop` and `spare`: packets that are addressed by what a link can see of them without keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass


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
