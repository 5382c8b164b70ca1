# SPDX-License-Identifier: Apache-2.0
"""Packets that the path lost for their size, what became of others of these flows, and the waits for their loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics.evidence import Direction
from quiclab.model.cause import Why
from quiclab.model.tables.drop_reasons import DropKind, reasons_of
from quiclab.why.mechanisms._api import Fact, Setting
from quiclab.why.mechanisms._course import at_sender, course
from quiclab.why.mechanisms._trial import Trial

WAITS = (Why.SET_UP_LOSS, Why.WINDOW_AFTER_LOSS, Why.LOSS_DETECTION, Why.LOSS_TIMER, Why.PROBE_TIMER)
"""Reasons whose time a packet that was lost for its size can take."""

SMALLER_DATAGRAMS = (
    Setting(
        "sender",
        "path_mtu_discovery",
        value=False,
        gain="Packets stay as small as the first ones.",
        also_changes=("more packets, and more bytes of headers",),
    ),
    Setting(
        "sender",
        "max_payload",
        1200,
        "Datagrams of the size that every path of QUIC has to carry (RFC 9000 section 14.1).",
        ("more packets, and more bytes of headers",),
    ),
)
"""Settings by which a sender's packets pass where larger ones are lost."""

_FOR_THEIR_SIZE = reasons_of(DropKind.SIZE)
_TOLD = "too_big"
_ENOUGH = 3
"""Packets that must be lost before "all" is said of them: of one or two a rare loss takes all now and then."""
_MARGIN_NS = 1_000_000
"""Time between a packet's departure by the account and its arrival at the link."""


@dataclass(frozen=True)
class BySize:
    """Packets of the flows that lost some for their size, since the first of these losses, over both directions."""

    smallest_lost: int
    """IP bytes of the smallest packet that was lost for its size."""
    largest_passed: int | None
    """IP bytes of the largest packet that no link lost, by the last such loss; None where there was none."""
    larger: int
    """Packets of the size of that smallest one or above, up to the last loss."""
    larger_lost: int
    """Number of the larger ones that were lost for their size."""
    told: int
    """Number of those whose sender was told by ICMP."""
    larger_passed: int
    """Number of the larger ones that no link lost."""
    passed_later: int
    """Packets as large that no link lost behind the last loss, where the path may be another one."""
    smaller: int
    smaller_lost: int
    """Smaller packets that links lost, for any reason."""

    @property
    def none_passed(self) -> bool:
        """True if all of the larger packets were lost, none of their senders was told, and there were enough to say
        so."""
        return self.larger_passed == 0 and self.told == 0 and self.larger_lost >= _ENOUGH

    def sizes_and_shares(self, larger: int) -> tuple[Fact, ...]:
        """Facts for readers: sizes, and the shares that were lost of so many larger packets and of the smaller ones."""
        passed = () if self.largest_passed is None else (Fact("largest_that_arrived", self.largest_passed, "bytes"),)
        smaller = (Fact("lost_of_smaller", 100 * self.smaller_lost / self.smaller, "%"),) if self.smaller else ()
        return (
            Fact("smallest_lost", self.smallest_lost, "bytes"),
            *passed,
            Fact("lost_of_that_size_or_larger", 100 * self.larger_lost / larger, "%"),
            *smaller,
        )


@lru_cache(maxsize=1)
def by_size(trial: Trial) -> BySize | None:
    """The packets of a trial by their size; None where no link lost any for its size."""
    both: tuple[Direction, ...] = (trial.way, trial.back)
    parts = [part for part in (_since_the_first_loss(trial, each) for each in both) if part is not None]
    if not parts:
        return None
    rows = pl.concat(parts)
    lost, large, later = pl.col("reason") != "", pl.col("large"), pl.col("later")
    larger, smaller = rows.filter(large & ~later), rows.filter(~large)
    for_size = larger.filter(pl.col("reason").is_in(_FOR_THEIR_SIZE))
    largest = rows.filter(~lost & ~(large & later))["size_bytes"].max()
    return BySize(
        int(for_size["size_bytes"].min()),  # type: ignore[arg-type]  # a part has such a packet
        None if largest is None else int(largest),  # type: ignore[arg-type]
        larger.height,
        for_size.height,
        for_size.filter(pl.col("reason") == _TOLD).height,
        larger.filter(~lost).height,
        rows.filter(large & later & ~lost).height,
        smaller.height,
        smaller.filter(lost).height,
    )


def _since_the_first_loss(trial: Trial, direction: Direction) -> pl.DataFrame | None:
    """Table of the packets of one direction since the first that was lost for its size: `size_bytes`, `reason`, whether
    they are as large as the smallest such one (`large`), and whether they came behind the last of these (`later`)."""
    drops = trial.drops(direction).filter(pl.col("reason").is_in(_FOR_THEIR_SIZE))
    sent = at_sender(trial.evidence, direction).filter(pl.col("flow").is_in(drops["flow"].unique().to_list()))
    rows = sent.select("index", "size_bytes").join(course(trial.evidence, direction), on="index")
    lost = rows.filter(pl.col("reason").is_in(_FOR_THEIR_SIZE))
    if lost.is_empty():
        return None
    first, last = lost["index"].min(), lost["index"].max()  # packets of one system call arrive at one instant
    return rows.filter(pl.col("index") >= first).select(
        "size_bytes",
        "reason",
        (pl.col("size_bytes") >= lost["size_bytes"].min()).alias("large"),
        (pl.col("index") > last).alias("later"),
    )


@lru_cache(maxsize=1)
def waits_for_them(trial: Trial) -> pl.Series:
    """Edges of the waits that packets lost for their size caused: for a window that such a loss had reduced, and for
    the detection of a loss or a timer where all that links had dropped since shortly before was lost for its size; of
    the handshake all since its begin."""
    reduced = trial.why(Why.WINDOW_AFTER_LOSS) & trial.dropped_by(DropKind.SIZE)
    drops = pl.concat([trial.drops(trial.way), trial.drops(trial.back)]).select("arrival_ns", "reason")
    begin, end = trial.account["from_ns"], trial.account["until_ns"]
    before_ns = trial.round_trip_ns + trial.longest_queue_ns + _MARGIN_NS

    def theirs(since_ns: int, until_ns: int) -> bool:
        mine = drops.filter(pl.col("arrival_ns").is_between(since_ns, until_ns))["reason"]
        return mine.len() > 0 and bool(mine.is_in(_FOR_THEIR_SIZE).all())

    def in_handshake(_: int, after: int) -> bool:  # a timer of a second, and round trips that are made again behind it
        return theirs(0, end[after - 1])

    def in_transfer(first: int, after: int) -> bool:
        return theirs(begin[first] - before_ns, end[after - 1])

    timed = trial.why(Why.LOSS_DETECTION, Why.LOSS_TIMER, Why.PROBE_TIMER)
    return reduced | trial.keep_runs(trial.why(Why.SET_UP_LOSS), in_handshake) | trial.keep_runs(timed, in_transfer)


def longest_wait(trial: Trial, edges: pl.Series) -> Fact:
    """The longest of some waits."""
    return Fact("longest_wait", max(end - begin for begin, end in trial.times(edges)) / 1e6, "ms")
