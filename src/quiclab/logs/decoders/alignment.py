# SPDX-License-Identifier: Apache-2.0
"""Match the packets of a qlog with the datagrams of a capture that carried them, by order and size.

A qlog's clock may be coarse or have no epoch; the order in which an endpoint handles packets, and their sizes, are
exact. Packets that share a datagram (RFC 9000 section 12.2) stand next to each other; a packet with a short header is
the last of its datagram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_WINDOWS = ((32, 48), (24, 512))
"""Numbers of packets and datagrams to look at where the sequences diverge; the wide window is for long bursts that were
dropped."""
_MOST_PER_DATAGRAM = 8
_PADDED_IN_A_ROW = 3
"""Number of consecutive padded datagrams to look at when searching where padding starts."""


@dataclass(frozen=True, slots=True)
class LoggedPacket:
    """A packet of a qlog."""

    length_bytes: int
    kind: str
    """Packet type, in qlog's words."""


def align(packets: Sequence[LoggedPacket], datagrams: Sequence[int]) -> list[int | None]:
    """Find the index of each packet's datagram; None where there is none.

    `datagrams` are UDP payload lengths. Datagrams that no log mentions (dropped by the socket, or not decryptable) and
    packets without a datagram are skipped so that most of what follows fits. Among neighbours of equal size the log
    cannot tell which one was dropped.
    """
    found: list[int | None] = [None] * len(packets)
    at_packet = at_datagram = 0
    while at_packet < len(packets) and at_datagram < len(datagrams):
        count = _fit(packets, at_packet, datagrams, at_datagram)
        if count:
            found[at_packet : at_packet + count] = [at_datagram] * count
            at_packet, at_datagram = at_packet + count, at_datagram + 1
            continue
        skip = _skip(packets, at_packet, datagrams, at_datagram)
        if skip is None:
            break
        at_packet, at_datagram = at_packet + skip[0], at_datagram + skip[1]
    _place_late(packets, datagrams, found)
    return found


def _fit(
    packets: Sequence[LoggedPacket],
    start: int,
    datagrams: Sequence[int],
    at_datagram: int,
    look_ahead: int = _PADDED_IN_A_ROW,
) -> int:
    """Count the packets from `start` on that fill the datagram; 0 if they do not fit."""
    total = 0
    count = 0
    for packet in packets[start : start + _MOST_PER_DATAGRAM]:
        total += packet.length_bytes
        if total > datagrams[at_datagram]:
            break
        count += 1
        if total == datagrams[at_datagram]:
            return count
        if packet.kind == "1RTT":
            break
    if not count or packets[start].kind != "initial":
        return 0
    # Padding behind the packets of a datagram with an Initial belongs to none of them: what follows shows where it
    # starts.
    following = at_datagram + 1
    ends = (start + packed for packed in range(1, count + 1))
    if not look_ahead or following == len(datagrams):
        return 1
    fits = (end for end in ends if _fit(packets, end, datagrams, following, look_ahead - 1))
    return next(fits, start) - start


def _skip(
    packets: Sequence[LoggedPacket], at_packet: int, datagrams: Sequence[int], at_datagram: int
) -> tuple[int, int] | None:
    """Numbers of packets and datagrams to skip so that the most packets of a window fit; None if too few do."""
    for packet_window, datagram_window in _WINDOWS:
        near_packets = packets[at_packet : at_packet + packet_window]
        near_datagrams = datagrams[at_datagram : at_datagram + datagram_window]
        best = _most_fitting(near_packets, near_datagrams)
        if best[0][0] * 2 >= min(len(near_packets), len(near_datagrams)):
            i = j = 0
            while best[i][j] in (best[i][j + 1], best[i + 1][j]):
                i, j = (i, j + 1) if best[i][j] == best[i][j + 1] else (i + 1, j)
            return i, j
    return None


def _most_fitting(packets: Sequence[LoggedPacket], datagrams: Sequence[int]) -> list[list[int]]:
    """Most packets that can be placed in order, for every pair of suffixes: a longest common subsequence."""
    best = [[0] * (len(datagrams) + 1) for _ in range(len(packets) + 1)]
    for i in range(len(packets) - 1, -1, -1):
        for j in range(len(datagrams) - 1, -1, -1):
            count = _fit(packets, i, datagrams, j)
            placed = count + best[i + count][j + 1] if count else 0
            best[i][j] = max(placed, best[i + 1][j], best[i][j + 1])
    return best


def _place_late(packets: Sequence[LoggedPacket], datagrams: Sequence[int], found: list[int | None]) -> None:
    """Place packets that were logged late because the endpoint had to wait for their keys: their datagrams came
    earlier."""
    taken = {index for index in found if index is not None}
    free = [index for index in range(len(datagrams)) if index not in taken]
    latest = -1
    for at, packet in enumerate(packets):
        index = found[at]
        if index is not None:
            latest = max(latest, index)
            continue
        place = next((each for each in free if each <= latest and datagrams[each] == packet.length_bytes), None)
        if place is not None:
            found[at] = place
            free.remove(place)
