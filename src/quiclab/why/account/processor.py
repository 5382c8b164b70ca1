# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: an endpoint's program that had something to do and waited for a processor (table `run_delays`).

A program without a processor reads late and acknowledges late, and a sender whose window is full waits for that. The
account of such a time names neither the window nor the ack, but the processor.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import End
from quiclab.model.activity import What
from quiclab.model.cause import UNIONS, Why
from quiclab.why.account.critical_path import Path
from quiclab.why.account.edges import Edge, Reason

LEAST_NS = 10_000_000
"""Shortest time that is looked at: the looks at a program are 50 ms apart, and short waits are everywhere."""
SHARE = 2
"""A wait counts if it took at least one part in so many of the time in which the program had something to do."""
_REASON = Reason(Why.PROCESSOR, "run_delays")
_ENDS: dict[What, End] = {What.CLIENT: "client", What.SERVER: "server"}
_KEPT = (Why.LINK_BUSY, Why.LAST_FLIGHT, Why.ORIGIN)
"""Reasons that stay as they are: found by the links, or behind a proxy, where both ends are other programs."""
_KERNELS = (
    *UNIONS[Why.WINDOW],
    Why.WINDOW,
    Why.LOSS_DETECTION,
    Why.LOSS_TIMER,
    Why.PROBE_TIMER,
    Why.AWAITING_ACKS,
    Why.NAGLE,
    Why.KEPT_IN_KERNEL,
)
"""Reasons that TCP's kernel sees to by itself, whatever its program gets."""


@dataclass(frozen=True)
class Looks:
    """Samples of one endpoint's threads, in the order of time."""

    until_ns: list[int]
    since_ns: list[int]
    longest_ns: list[int]

    def waited_ns(self, time_ns: int) -> int:
        """The longest wait of a thread that ended in the look in which an instant lies; 0 without one."""
        at = bisect_left(self.until_ns, time_ns)
        found = at < len(self.until_ns) and self.since_ns[at] <= time_ns
        return self.longest_ns[at] if found else 0


def name_processor_edges(evidence: Evidence, path: Path, edges: Iterable[Edge]) -> list[Edge]:
    """The edges of an account, of which those, or their parts, in which an endpoint waited for a processor say so."""
    listed = list(edges)
    front = "proxy" if evidence.trial.proxy else "server"
    looks: dict[End, Looks] = {"client": looks_at(evidence, "client"), "server": looks_at(evidence, front)}
    known = _KEPT if evidence.quic else (*_KEPT, *_KERNELS)
    own = {None, *(hop.link for way in (path.up, path.down) for hop in way.hops)}  # behind a proxy are other programs
    waits = (edge for edge in listed if edge.reason.why not in known and edge.link in own)
    spells = [spell for edge in waits if (spell := _without(path, looks, edge)) is not None]
    return [part for edge in listed for part in _parts(edge, spells)] if spells else listed


@lru_cache(maxsize=3)
def looks_at(evidence: Evidence, role: str) -> Looks:
    """Looks at the threads of a program, by its role: `client`, `server` or `proxy`."""
    rows = evidence.table("run_delays").filter(pl.col("role") == role).drop_nulls(("since_ns", "longest_ns"))
    rows = rows.sort("time_ns")
    return Looks(rows["time_ns"].to_list(), rows["since_ns"].to_list(), rows["longest_ns"].to_list())


def _without(path: Path, looks: dict[End, Looks], edge: Edge) -> tuple[int, int] | None:
    """The time in which an endpoint waited for a processor before the sending that ends an edge; None for none."""
    receiver: End = "client" if path.sender == "server" else "server"
    end = receiver if edge.what is What.ACK_HELD else _ENDS.get(edge.what)
    if end is None:
        return None
    begin_ns = min(edge.from_ns, _to_do_since(path, end, edge.until_ns))
    to_do_ns, waited_ns = edge.until_ns - begin_ns, looks[end].waited_ns(edge.until_ns)
    if to_do_ns < LEAST_NS or waited_ns * SHARE < to_do_ns:
        return None
    return max(begin_ns, edge.until_ns - waited_ns), edge.until_ns


def _to_do_since(path: Path, end: End, sent_ns: int) -> int:
    """Arrival of the first packet that came to an endpoint since it had last sent before an instant; else that."""
    sent, came = path.out(end).arrival, path.into(end).came_ns
    before = bisect_left(sent, sent_ns) - 1
    first = bisect_right(came, sent[before]) if before >= 0 else 0
    return came[first] if first < len(came) and came[first] < sent_ns else sent_ns


def _parts(edge: Edge, spells: list[tuple[int, int]]) -> Iterator[Edge]:
    """An edge, cut where a time without a processor begins or ends within it."""
    if edge.reason.why in _KEPT:
        yield edge
        return
    inside = [(max(a, edge.from_ns), min(b, edge.until_ns)) for a, b in spells]
    cuts = sorted({edge.from_ns, edge.until_ns, *(at for a, b in inside if a < b for at in (a, b))})
    for begin, until in pairwise(cuts):
        reason = _REASON if any(a <= begin and until <= b for a, b in inside if a < b) else edge.reason
        yield replace(edge, from_ns=begin, until_ns=until, reason=reason)
