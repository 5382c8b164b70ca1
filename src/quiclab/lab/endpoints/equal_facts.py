# SPDX-License-Identifier: Apache-2.0
"""Facts of a TCP and a QUIC program that mean the same, whatever the words in which each declares them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from quiclab.lab.endpoints.senders import declared_packets

_AS_OF = re.compile(r" \(as of [^)]*\)$")
_UDP_HEADERS, _FULL_PACKET = 28, 1500
"""Bytes of IPv4 and UDP before a payload, and of a packet that a sender over TCP fills."""
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = r"([\d.,]+) (B|[KMG]i?B)"
_WINDOW = re.compile(rf"(?:(?:stream|connection|stream and connection) window|TCP buffer up to) {_SIZE}")
_GROWTH = re.compile(rf"\s*growing(?: to {_SIZE})?")
_BUFFER = "TCP buffer"


def same_fact(point: str, over_tcp: str, over_quic: str) -> bool:
    """True if both facts about a point mean the same; what is not known is the same as nothing."""
    tcp, quic = (_meaning(point, fact) for fact in (over_tcp, over_quic))
    return tcp is not None and tcp == quic


def _meaning(point: str, fact: str) -> object:
    """A fact in a form that can be compared; None where it has none, as one that differs between versions."""
    read = _READERS.get(point)
    return read(_AS_OF.sub("", fact)) if read is not None and fact else None


def _controller(fact: str) -> object:
    """Family of a congestion control: betas and variants of one family are told elsewhere."""
    return next((name for name in ("cubic", "bbr", "reno") if name in fact.lower()), None)


def _full_packets(fact: str) -> object:
    """Bytes of a full packet: least and most."""
    if re.fullmatch(r"TCP payload \d+ bytes", fact):
        return _FULL_PACKET, _FULL_PACKET
    if found := re.match(r"UDP payload (\d+)(?:(?: to|, up to) (\d+))?", fact):
        return int(found[1]) + _UDP_HEADERS, int(found[2] or found[1]) + _UDP_HEADERS
    return None


def _paces(fact: str) -> object:
    """True of a sender that is paced."""
    return {"paced": True, "not paced": False}.get(re.split(r"[,;]| in ", fact)[0].strip())


def _windows(fact: str) -> object:
    """Bytes that a receiver allows at first, and in the end; the kernel's buffer for TCP, which is there beside the
    window of HTTP/2, bounds the latter."""
    first, most = [], []
    for found in _WINDOW.finditer(fact):
        size = _bytes(found[1], found[2])
        if found[0].startswith(_BUFFER):
            most.append(size)
            continue
        grows = _GROWTH.match(fact, found.end())
        first.append(size)
        most.append(size if grows is None else _bytes(grows[1], grows[2]) if grows[1] else math.inf)
    return (min(first), min(most)) if first else None


def _bytes(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * _UNITS[unit]


_READERS: Mapping[str, Callable[[str], object]] = {
    "congestion_control": _controller,
    "initial_window": declared_packets,
    "packet_size": _full_packets,
    "pacing": _paces,
    "receive_window": _windows,
}
"""Point → reader of what is declared of it."""
POINTS = tuple(_READERS)
"""Points that can decide how fast a transfer is, and that are compared."""
