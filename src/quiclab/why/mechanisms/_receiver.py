# SPDX-License-Identifier: Apache-2.0
"""The receiver of the bodies: did packets reach its host, did its program read them, and how late may it answer?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from quiclab.model.activity import What
from quiclab.why.mechanisms._trial import Trial

_HELD_NS = 4_000_000
"""Time from which on an acknowledgment counts as held back. A receiver that answers every second packet holds one for
as long as the next packet takes to come: 1.2 ms at 10 Mbit/s."""


@dataclass(frozen=True)
class Receiver:
    """Packets of the bodies' direction at their receiver, by `index` of the link there."""

    captured: frozenset[int] | None
    """Packets that its host received; None where no capture tells."""
    read: frozenset[int] | None
    """Packets that its program says it received; None where it keeps no log of them."""

    def took(self, packet: int) -> bool | None:
        """True if a packet that a link delivered was taken: False if it came and was thrown away, None if not known."""
        if self.captured is None or packet not in self.captured:
            return None
        return True if self.read is None else packet in self.read


def receiver(trial: Trial) -> Receiver:
    """The receiver of a trial; nothing is known of a client that changes its network."""
    evidence = trial.evidence
    if evidence.second_link is not None:
        return Receiver(None, None)
    captured = evidence.packets(evidence.receiver, trial.way)["packet_index"].drop_nulls()
    if not evidence.quic:
        return Receiver(frozenset(captured.to_list()), None)
    read = evidence.table("packets").filter(
        pl.col("vantage") == evidence.receiver,
        pl.col("direction") == trial.way,
        pl.col("event").is_in(["received", "buffered"]),
        pl.col("ip_packet").is_null(),
    )["packet_index"]
    told = frozenset(read.drop_nulls().to_list())
    return Receiver(frozenset(captured.to_list()), told or None)


def announced_ack_delay_ms(trial: Trial) -> float | None:
    """The longest delay of acknowledgments that the receiver announces over QUIC; None where no record has it."""
    evidence = trial.evidence
    if not evidence.quic:
        return None
    rows = evidence.table("parameters")
    told = rows.filter(rows["name"].str.ends_with(f"{evidence.receiver}.max_ack_delay"))["value"]
    longest = told.cast(pl.Float64, strict=False).max()
    return longest if isinstance(longest, float) else None


def held_back(trial: Trial) -> pl.Series:
    """Flags of the edges in which the receiver held an acknowledgment, or new credit, back."""
    return trial.what(What.ACK_HELD) & (trial.length_ns >= _HELD_NS)


@lru_cache(maxsize=1)
def taken(trial: Trial) -> tuple[bool | None, ...]:
    """Fate of the packet of each edge's event: true if it came and was taken; None where it was dropped, or nothing is
    known."""
    events = trial.account["event_packet"]
    if not any(fate == "" and packet is not None for packet, fate in zip(events, trial.event_fates, strict=True)):
        return (None,) * len(events)
    known = receiver(trial)
    last: dict[int, int] = dict(trial.course.select("index", "last").drop_nulls().iter_rows())
    return tuple(
        None if packet not in last or fate else known.took(last[packet])
        for packet, fate in zip(events, trial.event_fates, strict=True)
    )
