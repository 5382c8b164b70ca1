# SPDX-License-Identifier: Apache-2.0
"""Packets from one end to the other, as captures of both ends show them: which were sent, and when each came.

A datagram of QUIC is the same one where its encrypted bytes are; a segment of TCP where its numbers are, and of several
alike, as one that was sent again, what came is the last that had been sent long enough before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.evidence import Direction, End
from quiclab.logs.decoders.ciphertexts import digests
from quiclab.why.account.lost_between import Crossing
from quiclab.why.account.recorded import Tables, Transport

_SEGMENT = ("tcp_seq", "tcp_ack", "tcp_flags", "tcp_sack", "payload_bytes")
"""Columns that tell one segment of TCP from others; ports change at a translator of addresses."""
_SOON_NS = 1_000_000
"""Time by which a packet may come sooner than the least delay tells: two captures are late by different times."""
_FOUND = 0.99
"""Share of the packets that came that must have been sent, by the other capture: what it lacks of these, it lacks of
those of the other direction, which count as lost."""
_REPEATED = 0.4
"""Share of the packets of one end that repeat another from which on no sender has sent them so."""
_EXACT_NS, _ROUNDED_NS = 20_000, 2_000_000
"""Time by which a round trip between the captures may be below 0: their clocks tell no less, or are rounded to ms."""


_ENDS: Mapping[Direction, tuple[End, End]] = {"up": ("client", "server"), "down": ("server", "client")}
"""Direction → its sender and its receiver."""
_Packet = tuple[int, int, int, Hashable]
"""Instant, size, number in its capture, and what is the same in the other one."""


@dataclass(frozen=True, eq=False)
class _Way:
    """Packets of one direction in both captures."""

    direction: Direction
    sent: list[_Packet]
    came: list[_Packet]

    @classmethod
    def read(cls, tables: Tables, transport: Transport, files: Mapping[str, Path], way: Direction) -> _Way:
        """The packets of a direction in the captures of its sender and of its receiver."""
        return cls(way, *(_packets(tables, transport, files, end, way) for end in _ENDS[way]))


@dataclass(frozen=True, eq=False)
class Crossed:
    """Packets of one direction, and the numbers by which the sender's capture knows them."""

    direction: Direction
    crossing: Crossing
    numbers: tuple[int, ...]
    """`number` in ip_packets of each."""
    lacking: int
    """Packets that came though the sender's capture lacks them."""


def crossed(tables: Tables, transport: Transport, files: Mapping[str, Path]) -> list[Crossed]:
    """Packets of both directions between two captures, one of each end. `files` has them by their source's name.
    Raises Unknown where they do not show the same packets."""
    ways = [_Way.read(tables, transport, files, way) for way in _ENDS]
    _refuse_repeats(ways)
    _refuse_order(ways)
    found = [_one_way(way) for way in ways]
    if not all(each.numbers for each in found):
        raise Unknown("they have no packet in common: are they of one transfer, and whole?")
    return found


def _refuse_repeats(ways: list[_Way]) -> None:
    """Raise Unknown for a capture that has each packet twice. Acknowledgments may be alike: the data tell."""
    data = max(ways, key=lambda way: sum(each[1] for each in way.sent))
    for end, packets in zip(_ENDS[data.direction], (data.sent, data.came), strict=True):
        if packets and len({each[3] for each in packets}) < (1 - _REPEATED) * len(packets):
            raise Unknown(
                f"the {end}'s capture has most packets twice, as two captures in one file and one of several "
                "interfaces have: record at one interface"
            )


def _refuse_order(ways: list[_Way]) -> None:
    """Raise Unknown for captures of one place, and for those that are named the wrong way round: the round trip between
    them, which does not depend on how their clocks are set, is none, or below none."""
    alone = [_times_alone(way) for way in ways]
    if not all(alone):
        return
    delays = [[came - sent for sent, came in each] for each in alone]
    rounded = all(at % 1_000_000 == 0 for each in alone for pair in each for at in pair)
    if not any(delay for each in delays for delay in each):
        raise Unknown("both were recorded at one place: one must be the client's, the other the server's")
    if sum(map(min, delays)) < -(_ROUNDED_NS if rounded else _EXACT_NS):
        raise Unknown("packets come before they are sent: name the client's capture first, then the server's")


def _times_alone(way: _Way) -> list[tuple[int, int]]:
    """Instants of sending and arrival of packets that were sent once and came once."""
    sent, came = (Counter(each[3] for each in packets) for packets in (way.sent, way.came))
    arrived = {each[3]: each[0] for each in way.came}
    return [(each[0], arrived[each[3]]) for each in way.sent if sent[each[3]] == came[each[3]] == 1]


def _one_way(way: _Way) -> Crossed:
    sent, came = way.sent, way.came
    delays = _delays(way)
    known = [each is not None for each in delays]
    shown = {each[3] for each in sent}
    found = sum(each[3] in shown for each in came)
    if found < _FOUND * len(came):
        raise Unknown(
            f"of {len(came):,} packets that came {way.direction} only {found:,} are found where they were sent: these "
            "are two transfers, or one is cut short or has holes, or a network card put packets together (switch its "
            "offloads off)"
        )
    until = max((at for at, each in enumerate(known) if each), default=-1) + 1  # what follows may have come too late
    rows, delays = sent[:until], delays[:until]
    return Crossed(
        way.direction,
        Crossing(
            np.array([each[0] for each in rows], dtype=np.int64),
            np.array([each[1] for each in rows], dtype=np.int64),
            np.array([np.nan if each is None else each for each in delays], dtype=np.float64),
        ),
        tuple(each[2] for each in rows),
        len(came) - found,
    )


def _packets(
    tables: Tables, transport: Transport, files: Mapping[str, Path], end: End, way: Direction
) -> list[_Packet]:
    told = tables["packets"].filter(
        pl.col("vantage") == end, pl.col("direction") == way, pl.col("transport") == transport
    )
    told = told.select("source", pl.col("ip_packet").alias("number")).drop_nulls().unique()
    rows = tables["ip_packets"].join(told, on=("source", "number"), how="semi")
    common = ("time_ns", "size_bytes", "number")
    if transport == "tcp":
        flat = rows.with_columns(pl.col("tcp_sack").cast(pl.List(pl.String)).list.join(","))
        return [(*row[:3], row[3:]) for row in flat.select(*common, *_SEGMENT).sort("time_ns", "number").iter_rows()]
    shown = [digests(name, files[name]).rename({"digest": "key"}) for name in rows["source"].unique()]
    if not shown:
        return []
    rows = rows.join(pl.concat(shown).unique(("source", "number")), on=("source", "number"), how="inner")
    return list(rows.select(*common, "key").sort("time_ns", "number").iter_rows())


def _delays(way: _Way) -> list[int | None]:
    """Time from the sending of each packet to its arrival; None of one that did not come."""
    sent, came = way.sent, way.came
    sendings, arrivals = (defaultdict[Hashable, list[int]](list) for _ in range(2))
    for at, each in enumerate(sent):
        sendings[each[3]].append(at)
    for arrived_ns, _, _, key in came:
        arrivals[key].append(arrived_ns)
    delays: list[int | None] = [None] * len(sent)
    least = min((came_ns - sent_ns for sent_ns, came_ns in _times_alone(way)), default=0) - _SOON_NS
    for key, places in sendings.items():
        instants = arrivals.get(key, [])
        if len(places) == len(instants):
            for at, arrived_ns in zip(places, instants, strict=True):
                delays[at] = arrived_ns - sent[at][0]
            continue
        free = list(places)
        for arrived_ns in instants:
            possible = [at for at in free if arrived_ns - sent[at][0] >= least]
            if possible:
                free.remove(possible[-1])
                delays[possible[-1]] = arrived_ns - sent[possible[-1]][0]
    return delays
