# SPDX-License-Identifier: Apache-2.0
"""The account of one download over one link: what passed while the client waited for its last byte."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.accounting.bottleneck import Period, busy_periods
from quiclab.accounting.parts import PROMPT_NS, Part
from quiclab.metrics import Evidence, Noted, Unknown, times


@dataclass(frozen=True)
class Stretch:
    """A stretch of time that belongs to one part."""

    part: Part
    from_ns: int
    until_ns: int
    packet_index: int | None = None
    """Packet that begins a busy period or ends an idle one, or that arrives with the last byte: `index` in
    link_packets, going down."""
    packets: int | None = None
    """Packets that a busy period served."""
    size_bytes: int | None = None
    """Bytes of these, IP headers included."""
    prompted_after_ns: int | None = None
    """Time from the last arrival at the server to the packet that ended an idle time."""


@dataclass(frozen=True)
class _Instants:
    zero_ns: int
    set_up_ns: int
    requested_ns: int
    """Arrival of the request at the server."""
    last_ns: int


def account_of_download(evidence: Evidence) -> list[Stretch]:
    """Stretches that follow each other without a gap from the client's first packet to its last byte.

    Raises Unknown where the trial is of another kind, or its records cannot carry an account or contradict each other.
    """
    _check_kind(evidence)
    up, down = (_of_link(evidence, direction) for direction in ("up", "down"))
    instants = _instants(evidence, up)
    answer = down.filter(pl.col("arrival_ns") >= instants.requested_ns)
    completing = _completing(evidence, answer, instants.last_ns)
    periods = list(busy_periods(answer.filter(pl.col("left_ns") <= completing["left_ns"])))
    lost_ns = answer.filter(pl.col("action") == "dropped")["arrival_ns"].min()
    came_ns = evidence.packets("server", "up")["time_ns"].sort().to_list()
    if not came_ns:
        raise Unknown("the trial has no capture of what reached the server")
    stretches = [
        Stretch(Part.SET_UP, instants.zero_ns, instants.set_up_ns),
        Stretch(Part.REQUEST, instants.set_up_ns, periods[0].from_ns, periods[0].first_index),
        *_served(periods, came_ns, lost_ns if isinstance(lost_ns, int) else None),
        Stretch(Part.LAST_FLIGHT, completing["left_ns"], instants.last_ns, completing["index"]),
    ]
    if any(each.until_ns < each.from_ns for each in stretches):
        raise Unknown("the captures, the link's log and the times of this trial contradict each other")
    return stretches


def _served(periods: Sequence[Period], came_ns: Sequence[int], lost_ns: int | None) -> list[Stretch]:
    """Periods of service and, between them, the times in which nothing was there to serve."""
    stretches: list[Stretch] = []
    for period in periods:
        if stretches:
            before_ns = stretches[-1].until_ns
            known = bisect_right(came_ns, period.from_ns)
            after_ns = period.from_ns - came_ns[known - 1] if known else None
            part = _idle(after_ns, lost=lost_ns is not None and lost_ns < period.from_ns)
            stretches.append(Stretch(part, before_ns, period.from_ns, period.first_index, prompted_after_ns=after_ns))
        stretches.append(
            Stretch(Part.BUSY, period.from_ns, period.until_ns, period.first_index, period.packets, period.size_bytes)
        )
    return stretches


def _idle(prompted_after_ns: int | None, *, lost: bool) -> Part:
    if prompted_after_ns is None or prompted_after_ns > PROMPT_NS:
        return Part.IDLE_UNPROMPTED
    return Part.IDLE_AWAITING_AFTER_LOSS if lost else Part.IDLE_AWAITING


def _check_kind(evidence: Evidence) -> None:
    """Raise Unknown for what this account does not cover."""
    trial, expected = evidence.trial, evidence.trial.get("expected") or {}
    beyond = {
        "an upload": evidence.upload,
        "a page": bool(expected.get("page")),
        "a video": bool(expected.get("video")),
        "several objects": len(expected.get("objects") or ()) > 1,
        "a competition": bool(trial.get("competition")),
        "a change of address": bool(trial.get("address_change") or trial.get("second_link")),
        "a proxy": bool(trial.get("proxy")),
        "several links in a row": not evidence.one_link,
    }
    for kind, there in beyond.items():
        if there:
            raise Unknown(f"{kind} is not accounted for yet: only downloads of one object over one link are")


def _of_link(evidence: Evidence, direction: str) -> pl.DataFrame:
    rows = evidence.table("link_packets").filter(pl.col("direction") == direction, pl.col("action") != "outside_model")
    if rows.is_empty():
        raise Unknown("the trial has no log of its link's packets")
    return rows.with_columns((pl.col("due_ns") + pl.col("lateness_ns")).alias("written_ns"))


def _instants(evidence: Evidence, up: pl.DataFrame) -> _Instants:
    """Instants that bound the parts; those of the metrics setup_ms and ttlb_ms, so that account and metric agree."""
    zero_ns = evidence.zero_ns
    set_up_ns = zero_ns + round(times.setup_ms(evidence) * 1e6)
    last = times.ttlb_ms(evidence)
    last_ns = zero_ns + round((last.value if isinstance(last, Noted) else last) * 1e6)
    asked = up.filter(pl.col("arrival_ns") >= set_up_ns, pl.col("action") == "delivered")["written_ns"].min()
    if not isinstance(asked, int):
        raise Unknown("no packet of the client that could carry the request reached the server")
    return _Instants(zero_ns, set_up_ns, asked, last_ns)


def _completing(evidence: Evidence, answer: pl.DataFrame, last_ns: int) -> dict[str, int]:
    """`index` and `left_ns` of the packet that arrived with the last byte. Raises Unknown without one."""
    arrived = evidence.packets("client", "down").filter(pl.col("time_ns") == last_ns)["packet_index"].to_list()
    rows = answer.filter(pl.col("index").is_in(arrived), pl.col("written_ns") == last_ns).drop_nulls("left_ns")
    if rows.is_empty():
        raise Unknown("the packet with the last byte is not found in the link's log")
    return rows.sort("left_ns").select("index", "left_ns").row(-1, named=True)
