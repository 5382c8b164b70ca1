# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: whether a server had sent three times what had come from an address that it did not know yet."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown, quic

_TIMES = 3
"""RFC 9000 section 8.1."""
_FULL_BYTES = 1200
"""Least size of a datagram with an Initial packet that asks for an acknowledgment (RFC 9000 section 14.1)."""


@dataclass(frozen=True)
class Amplification:
    """UDP payload that a server had received and sent, up to the instant at which it knew the client's address."""

    sent_ns: Sequence[int]
    sent: Sequence[int]
    """Bytes sent with each of its datagrams, those before it included."""
    came_ns: Sequence[int]
    came: Sequence[int]
    known_ns: int
    """Instant from which the address counts as valid: 0 where the limit never held."""

    def limited(self, sent_ns: int, since_ns: int | None = None) -> bool:
        """True if a datagram that the server sent at an instant had had no room when it fell silent: with the datagram
        before it, or with its last one before something came at `since_ns`."""
        at = bisect_left(self.sent_ns, sent_ns)
        before = at if since_ns is None else bisect_left(self.sent_ns, since_ns)
        if not 0 < before <= at < len(self.sent):
            return False
        silent_ns = self.sent_ns[before - 1]
        size = self.sent[at] - self.sent[at - 1]
        return silent_ns < self.known_ns and self.sent[before - 1] + size > _TIMES * self._came_by(silent_ns)

    def has_no_room(self, time_ns: int) -> bool:
        """True if a server that had begun to answer could send no full datagram at an instant, by the limit."""
        at = bisect_right(self.sent_ns, time_ns)
        sent = self.sent[at - 1] if at else 0
        return sent > 0 and time_ns < self.known_ns and sent + _FULL_BYTES > _TIMES * self._came_by(time_ns)

    def exceeded(self) -> bool:
        """True if the server began a datagram without any room before packets told it the address: then a token had."""
        early = bisect_left(self.sent_ns, self.known_ns)
        return any(
            self.sent[at - 1] >= _TIMES * self._came_by(self.sent_ns[at]) for at in range(1, min(early, len(self.sent)))
        )

    def _came_by(self, time_ns: int) -> int:
        at = bisect_right(self.came_ns, time_ns)
        return self.came[at - 1] if at else 0


def amplification(evidence: Evidence) -> Amplification:
    """Amplification limit as the server's capture shows it; nothing is limited where it does not show the handshake's
    packets."""
    known_ns = _known_ns(evidence) if evidence.quic else 0
    down, up = evidence.packets("server", "down"), evidence.packets("server", "up")
    found = Amplification(*_sums(down), *_sums(up), known_ns)
    return Amplification(*_sums(down), *_sums(up), 0) if found.exceeded() else found


def _sums(packets: pl.DataFrame) -> tuple[list[int], list[int]]:
    return packets["time_ns"].to_list(), list(accumulate(packets["payload_bytes"].fill_null(0).to_list()))


def _known_ns(evidence: Evidence) -> int:
    """Arrival of the client's first Handshake packet; 0 after a Retry, whose token shows the address."""
    if evidence.table("handshake").filter(pl.col("step") == "retry").height:
        return 0
    try:
        arrivals = quic.arrivals(evidence, "server")
    except Unknown:
        return 0
    return min((at for (_, kind, _), at in arrivals.items() if kind == "handshake"), default=0)
