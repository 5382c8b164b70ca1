# SPDX-License-Identifier: Apache-2.0
"""One trial as mechanisms see it: the edges of its account, and what became of its packets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import Direction
from quiclab.evidence.metrics.unacknowledged import unacknowledged
from quiclab.model.tables.drop_reasons import DropKind, reasons_of
from quiclab.why.account import What, Why
from quiclab.why.account.kernel import models_the_path, sender_samples
from quiclab.why.mechanisms._course import at_sender, client_rows, course

OF_THE_PATH = (DropKind.LOSS, DropKind.BLOCK, DropKind.SIZE, DropKind.NAT, DropKind.CORRUPTION)
"""Kinds of drops by which the path itself loses a packet, whatever its sender does."""

_BEHIND = 3
"""Number of packets behind a lost one whose acknowledgment shows the loss."""
_LATE_NS = 30_000_000
"""Additional time, beyond a round trip, after which a sender may notice it."""
_DATA_BYTES = 200
"""Payload from which on a datagram of QUIC is more than acknowledgments."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One verified trial with an account. Compared by identity, so that what was derived can be remembered."""

    evidence: Evidence
    account: pl.DataFrame
    """The table `account` of the trial, in the order of time."""

    @cached_property
    def length_ns(self) -> pl.Series:
        """Duration of each edge."""
        return self.account["until_ns"] - self.account["from_ns"]

    def none(self) -> pl.Series:
        """No edge at all."""
        return pl.Series([False] * self.account.height, dtype=pl.Boolean)

    def why(self, *whys: Why) -> pl.Series:
        """True for each edge with one of some reasons."""
        return self._any_of(self.account["why"], whys)

    def what(self, *whats: What) -> pl.Series:
        """True for each edge with one of some labels of what passes the time."""
        return self._any_of(self.account["what"], whats)

    def _any_of(self, told: pl.Series, wanted: Iterable[Why | What]) -> pl.Series:
        """True for each edge that is told as one of those wanted. Mechanisms ask this often: plain comparisons are
        quicker than `is_in`, which goes through the query engine."""
        return reduce(or_, (told == str(each) for each in wanted), self.none())

    @cached_property
    def way(self) -> Direction:
        """Direction of the bodies."""
        return self.evidence.way

    @cached_property
    def back(self) -> Direction:
        """Direction of the bodies' acknowledgments."""
        return "down" if self.way == "up" else "up"

    @cached_property
    def round_trip_ns(self) -> int:
        """Least round trip over the client's links, without queue and service; 0 where their logs do not tell."""
        ways = [client_rows(self.evidence, each) for each in (self.way, self.back)]
        rows = pl.concat(ways).filter(pl.col("action") == "delivered").drop_nulls(("due_ns", "left_ns"))
        least = rows.group_by("source", "direction").agg((pl.col("due_ns") - pl.col("left_ns")).min().alias("way"))
        if self.evidence.second_link is not None:  # one network after the other
            least = least.group_by("direction").agg(pl.col("way").max())
        return max(0, int(least["way"].sum()))

    @cached_property
    def modelled(self) -> bool:
        """True if the sender's congestion control has a model of the path, by the spec or by its socket."""
        used = sender_samples(self.evidence)["congestion_control"].drop_nulls().unique().to_list()
        return any(models_the_path(each) for each in (*used, self.evidence.trial.asked.congestion_control))

    @cached_property
    def ahead(self) -> pl.DataFrame:
        """Packets of the bodies' direction at the sender's own link, in the order of their arrival."""
        return at_sender(self.evidence, self.way)

    @cached_property
    def longest_queue_ns(self) -> int:
        """Longest time that a packet of the bodies' direction spent in queue and service of the sender's link."""
        longest = self.ahead.select((pl.col("left_ns") - pl.col("arrival_ns")).max()).item()
        return int(longest or 0)

    @cached_property
    def course(self) -> pl.DataFrame:
        """Packets of the bodies' direction, why they were lost, and what the link at their receiver calls them."""
        return course(self.evidence, self.way)

    @cached_property
    def fate(self) -> Mapping[int, str]:
        """Packet of the bodies' direction at the sender's link → why a link lost it; "" where none did."""
        return dict(self.course.select("index", "reason").iter_rows())

    def drops(self, direction: Direction) -> pl.DataFrame:
        """This flow's packets that links between the client and its front dropped one way, in the order of arrival."""
        return self._drops[direction]

    @cached_property
    def _drops(self) -> Mapping[Direction, pl.DataFrame]:
        ways: tuple[Direction, ...] = (self.way, self.back)
        found = {each: client_rows(self.evidence, each).filter(pl.col("action") == "dropped") for each in ways}
        if not self.evidence.trial.competition:
            return found
        ends = {self.way: self.evidence.sender, self.back: self.evidence.receiver}
        for each in ways:
            sent = self.evidence.packets(ends[each], each)["packet_index"].drop_nulls()
            mine = at_sender(self.evidence, each).filter(pl.col("index").is_in(sent.to_list()))["flow"].unique()
            found[each] = found[each].filter(pl.col("flow").is_in(mine.to_list()))
        return found

    @cached_property
    def drop_reasons(self) -> frozenset[str]:
        """All reasons for which links dropped packets of the bodies' direction."""
        return frozenset(self.drops(self.way)["reason"].drop_nulls().unique().to_list())

    @cached_property
    def event_fates(self) -> list[str | None]:
        """Reason why the packet of each edge's event was dropped: "" where it was delivered, None where it is not
        known.

        An event that names no packet has the fate of the one whose loss its sender must have noticed about then, or of
        all of the trial's drops, where these have one reason.
        """
        rows = self.account.select("event_ns", "event_packet")
        unnamed = {
            event: self._fate_before(event)
            for event in set(rows.filter(pl.col("event_packet").is_null())["event_ns"].drop_nulls().to_list())
        }
        single = next(iter(self.drop_reasons)) if len(self.drop_reasons) == 1 else None
        single = "" if not self.drop_reasons else single
        return [
            None if event is None else unnamed[event] if packet is None else self.fate.get(packet, single)
            for event, packet in rows.iter_rows()
        ]

    def _fate_before(self, event_ns: int) -> str | None:
        if not self.drop_reasons:
            return ""
        if len(self.drop_reasons) == 1:
            return next(iter(self.drop_reasons))
        noticed = min(self._noticed, key=lambda each: abs(each[0] - event_ns), default=None)
        reach_ns = self.round_trip_ns + _LATE_NS
        return noticed[1] if noticed is not None and abs(noticed[0] - event_ns) <= reach_ns else None

    @cached_property
    def _noticed(self) -> list[tuple[int, str]]:
        """Instants at which the acknowledgment of the third packet behind each dropped one comes, and why that was
        dropped (RFC 9002 section 6.1.1)."""
        mine = self.course.filter(pl.col("index").is_in(list(self.own))) if self.own else self.course
        rows = self.ahead.join(mine.filter(pl.col("reason") == ""), on="index", maintain_order="left")
        rows = rows.drop_nulls("due_ns")
        came_ns: list[int] = rows["arrival_ns"].to_list()
        due_ns: list[int] = rows["due_ns"].to_list()
        lost = self.ahead.join(mine.filter(pl.col("reason") != ""), on="index", suffix="_of")
        found = []
        for arrival_ns, reason in lost.select("arrival_ns", "reason_of").iter_rows():
            third = bisect_right(came_ns, arrival_ns) + _BEHIND - 1
            if third < len(due_ns):
                found.append((due_ns[third] + self.round_trip_ns // 2, reason))
        return found

    def dropped_by(self, *kinds: DropKind) -> pl.Series:
        """True for each edge whose event's packet was dropped for a reason of some kinds."""
        reasons = reasons_of(*kinds)
        return pl.Series([fate in reasons for fate in self.event_fates], dtype=pl.Boolean)

    @cached_property
    def unacknowledged(self) -> pl.DataFrame:
        """Bytes of the bodies that had been sent and not acknowledged, over time: a table that is made of others."""
        stored = self.evidence.table("unacknowledged")
        return stored if stored.height else unacknowledged(self.evidence)

    @cached_property
    def after_the_answer(self) -> pl.Series:
        """True for each edge behind the first one on which the bottleneck serves the bodies."""
        return self.why(Why.LINK_BUSY).cast(pl.UInt32).cum_sum().shift(1, fill_value=0) > 0

    @cached_property
    def own(self) -> frozenset[int]:
        """Packets of the bodies' direction at the sender's link that the transfer's own sender sent."""
        sent = self.evidence.packets(self.evidence.sender, self.way)
        return frozenset(sent["packet_index"].drop_nulls().to_list())

    @cached_property
    def data_packets(self) -> pl.DataFrame:
        """Packets of the transfer's own sender, as captured, that count against a congestion window: acknowledgments
        alone do not."""
        sent = self.evidence.packets(self.evidence.sender, self.way)
        return sent.filter(pl.col("payload_bytes") >= (_DATA_BYTES if self.evidence.quic else 1))

    def runs(self, edges: pl.Series) -> list[tuple[int, int]]:
        """Waits that some edges make up: (first edge, the one after the last). What the laboratory adds in the middle
        of a wait makes no two of it."""
        added = self.why(Why.LABORATORY) & ~edges
        without = edges.set(added, None)
        whole = edges | (added & without.forward_fill().fill_null(False) & without.backward_fill().fill_null(False))
        firsts = (whole & ~whole.shift(1, fill_value=False)).arg_true().to_list()
        lasts = (whole & ~whole.shift(-1, fill_value=False)).arg_true().to_list()
        return [(first, last + 1) for first, last in zip(firsts, lasts, strict=True)]

    def times(self, edges: pl.Series) -> list[tuple[int, int]]:
        """Begin and end of each of the waits that some edges make up."""
        begin, end = self.account["from_ns"], self.account["until_ns"]
        return [(begin[first], end[after - 1]) for first, after in self.runs(edges)]

    def keep_runs(self, edges: pl.Series, keep: Callable[[int, int], bool]) -> pl.Series:
        """Keep some edges by their waits; `keep` gets its first edge and the one after the last."""
        kept = [False] * self.account.height
        for first, after in self.runs(edges):
            if keep(first, after):
                kept[first:after] = [True] * (after - first)
        return pl.Series(kept, dtype=pl.Boolean) & edges

    def events(self, edges: pl.Series) -> int:
        """Number of different events that some edges name."""
        return self.account.filter(edges)["event_ns"].drop_nulls().n_unique()

    def waits(self, edges: pl.Series) -> int:
        """Number of waits that some edges make up."""
        return len(self.runs(edges))

    def ms(self, edges: pl.Series) -> float:
        """Time of some edges in ms."""
        return float(self.length_ns.filter(edges).sum()) / 1e6

    def bytes(self, edges: pl.Series) -> float:
        """Bytes that the bottleneck served on some edges."""
        return float(self.account["size_bytes"].filter(edges).fill_null(0).cast(pl.Int64).sum())

    @cached_property
    def overtaken(self) -> bool:
        """True if a packet of the bodies' direction left the sender's link later than one that had come after it."""
        rows = self.ahead.filter(pl.col("index").is_in(list(self.own)), pl.col("due_ns").is_not_null()).sort("index")
        return bool((rows["due_ns"] < rows["due_ns"].cum_max()).any())
