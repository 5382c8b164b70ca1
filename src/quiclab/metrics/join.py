# SPDX-License-Identifier: Apache-2.0
"""Which datagram of a capture carried which packet of a qlog, by order and size.

A qlog's clock may be coarse or have no epoch; the order in which an endpoint handles packets, and their sizes, are
exact. Packets that share a datagram (RFC 9000 section 12.2) stand next to each other; a packet with a short header is
the last of its datagram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_RUN = 6
"""Datagrams in a row that must fit before the sequences count as aligned again."""
_REACH = 256
"""How many datagrams and packets together may be skipped at one place."""
_MAX_GAPS = 64
"""Places at which the sequences may part; more of them mean that they do not belong together."""


@dataclass(frozen=True)
class LoggedPacket:
    """A packet of a qlog."""

    length_bytes: int
    kind: str
    """qlog's packet type."""


def align(packets: Sequence[LoggedPacket], datagrams: Sequence[int]) -> list[int | None]:
    """For each packet the index of its datagram, or None.

    `datagrams` are UDP payload lengths. Datagrams that no log mentions (dropped by the socket, or not decryptable) and
    packets without a datagram are skipped where the sequences fit again soon after.
    """
    found: list[int | None] = [None] * len(packets)
    at_packet = at_datagram = gaps = 0
    while at_packet < len(packets) and at_datagram < len(datagrams):
        count = _fit(packets, at_packet, datagrams[at_datagram])
        if count:
            found[at_packet : at_packet + count] = [at_datagram] * count
            at_packet, at_datagram = at_packet + count, at_datagram + 1
            continue
        gaps += 1
        gap = _resume(packets, at_packet, datagrams, at_datagram) if gaps <= _MAX_GAPS else None
        if gap is None:
            break
        at_packet, at_datagram = at_packet + gap[0], at_datagram + gap[1]
    _place_late(packets, datagrams, found)
    return found


def _fit(packets: Sequence[LoggedPacket], start: int, datagram: int) -> int:
    """How many packets from `start` on fill the datagram; 0 if they do not fit."""
    total = 0
    for count, packet in enumerate(packets[start : start + 8], 1):
        total += packet.length_bytes
        if total == datagram:
            return count
        if total > datagram:
            # Datagrams with an Initial may end in padding that belongs to no packet.
            return count - 1 if packets[start].kind == "initial" else 0
        if packet.kind == "1RTT":
            return 0
    return 0


def _fits_on(packets: Sequence[LoggedPacket], at_packet: int, datagrams: Sequence[int], at_datagram: int) -> bool:
    """Whether a run of datagrams fits from here on; the end of either sequence ends the run."""
    for datagram in datagrams[at_datagram : at_datagram + _RUN]:
        if at_packet == len(packets):
            break
        count = _fit(packets, at_packet, datagram)
        if not count:
            return False
        at_packet += count
    return True


def _resume(
    packets: Sequence[LoggedPacket], at_packet: int, datagrams: Sequence[int], at_datagram: int
) -> tuple[int, int] | None:
    """The least number of packets and datagrams to skip so that a run fits again."""
    for skipped in range(1, _REACH):
        for skip_packets in range(skipped + 1):
            skip = (skip_packets, skipped - skip_packets)
            inside = at_packet + skip[0] < len(packets) and at_datagram + skip[1] < len(datagrams)
            if inside and _fits_on(packets, at_packet + skip[0], datagrams, at_datagram + skip[1]):
                return skip
    return None


def _place_late(packets: Sequence[LoggedPacket], datagrams: Sequence[int], found: list[int | None]) -> None:
    """Packets that the endpoint kept back until it had the keys are logged late: their datagrams stand before."""
    taken = {index for index in found if index is not None}
    free = [index for index in range(len(datagrams)) if index not in taken]
    limit = -1
    for at, packet in enumerate(packets):
        index = found[at]
        if index is not None:
            limit = max(limit, index)
            continue
        place = next((each for each in free if each <= limit and datagrams[each] == packet.length_bytes), None)
        if place is not None:
            found[at] = place
            free.remove(place)
