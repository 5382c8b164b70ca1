# SPDX-License-Identifier: Apache-2.0
"""What must be true of every account of a recorded trial, by what did not go into it or need not have come out so.

An account adds up however wrong it is. These can fail: the link's own times of service, instants of cause and effect,
the kernel's clocks, the least time that a path allows, and the sender's own word, with and without reading it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from quiclab.compare.least_time import least_time_ms
from quiclab.compare.study import read_record, read_study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.evidence.metrics import Evidence
from quiclab.model.resolved_record import ResolvedArm
from quiclab.model.tables import TABLES
from quiclab.why.account import UNIONS, MetricScope, Why, account_table, spells

_NEAR_NS = 20_000_000
"""Age up to which a sample of the kernel tells of a time after it."""
_TICK_MS = 4.0
"""Grain of the kernel's clocks."""
_MOST_FREE = 1 / 3
_LOOK_NS = 200_000
"""Time that a sample of the kernel may take."""
_LEAST_TOLD_MS, _LEAST_AGREEMENT = 200.0, 0.6
"""Time with a word of the sender from which on, and share of it to which, inferred reasons must be of its kind."""
_TOLD_LATER_NS = 5_000_000
"""How much later than a smaller window a log may tell of the loss that had made it so."""
_SENDINGS = ("server", "client", "ack_held")
_WITHOUT_DATA = ("acknowledgments", "probe", "handshake")
_OWN_WORD = "blocked"
_RUN_DELAYS = "run_delays"
KINDS = {
    "window": (*UNIONS[Why.WINDOW], Why.WINDOW, Why.CONTESTED),
    "credit": (Why.STREAM_CREDIT, Why.CONNECTION_CREDIT),
    "sender": (*UNIONS[Why.PACING_OR_PROGRAM], Why.PACING_OR_PROGRAM),
    "loss": (Why.LOSS_DETECTION, Why.LOSS_TIMER, Why.PROBE_TIMER),
}
"""Kind → reasons that count as the same where inferred ones are held against the sender's own."""


@dataclass
class Facts:
    """What was found in a study."""

    trials: int = 0
    untrue: list[str] = field(default_factory=list)
    confusion: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    """(the sender's own kind of reason, the one inferred without its word) → ms, of times for which it gives one."""
    samples: int = 0
    """Samples of the kernel in waits that the account takes for its congestion window."""
    full: int = 0
    """Those of them that show a full window."""

    @property
    def agreement(self) -> float | None:
        """Share of the time with a word of the sender that is inferred as that kind; None without any."""
        told = sum(self.confusion.values())
        same = sum(ms for (said, inferred), ms in self.confusion.items() if said == inferred)
        return same / told if told else None

    @property
    def holds(self) -> bool:
        """Whether all is true, and the sender's word mostly that which is inferred without it."""
        told = sum(self.confusion.values())
        return not self.untrue and (told < _LEAST_TOLD_MS or (self.agreement or 0.0) >= _LEAST_AGREEMENT)

    def lines(self) -> list[str]:
        """What was looked at, the confusion, and all that is not true."""
        told = [f"{self.trials} accounts"]
        if self.samples:
            told.append(
                f"{self.samples} samples in waits for TCP's window, {100 * self.full / self.samples:.1f} % full"
            )
        for (said, inferred), ms in sorted(self.confusion.items(), key=lambda item: -item[1]):
            told.append(f"the sender says {said}, inferred is {inferred}: {ms:.1f} ms")
        if self.agreement is not None:
            told.append(f"of the same kind: {100 * self.agreement:.1f} %")
        return told + self.untrue


def facts(study: Path) -> Facts:
    """Look at every verified trial with an account."""
    opened = OpenedStudy(study)
    spec = read_study(study)
    found = Facts()
    for trial in opened.table("trials").filter(status="verified").iter_rows(named=True):
        trial_id = str(trial["trial_id"])
        tables = {name: table for name in TABLES if (table := opened.trial_table(name, trial_id)) is not None}
        accounts = tables.get("account")
        if accounts is None or accounts.is_empty():
            continue
        found.trials += 1
        _videos(found, str(trial["trial_id"]), accounts, tables)
        account = accounts.filter(MetricScope.TTLB.rows)
        if account.is_empty():
            continue
        where = f"{trial_id} ({trial['arm']}, {trial['cell_id']})"
        evidence = Evidence(tables, read_record(study / "trials" / trial_id))
        checks = (_whole(account), _link(account, tables), _causes(account, tables), _kernel(account, tables))
        found.untrue += [f"{where}: {each}" for check in checks for each in check]
        workload, path, arm = (
            spec.workloads.get(trial["workload"]), spec.paths.get(trial["path"]), spec.arms.get(trial["arm"])
        )  # fmt: skip
        if _paces_unbidden(account, arm):
            found.untrue.append(f"{where}: TCP paces, which neither congestion control nor arm asks for")
        free = _free_shares(account, tables)
        found.samples += free.len()
        found.full += int((free <= 0).sum())
        if (too_free := int((free > _MOST_FREE).sum())) > max(1, 0.02 * free.len()):
            found.untrue.append(f"{where}: a third of the window is free in {too_free} of {free.len()} waits for it")
        least = least_time_ms(workload, path, arm) if workload and path and arm else None
        total = (account["until_ns"][-1] - account["from_ns"][0]) / 1e6
        if least is not None and total < least:
            found.untrue.append(f"{where}: {total:.3f} ms is less than the path needs, {least:.3f} ms")
        _confuse(found, account, evidence)
    return found


def _videos(found: Facts, trial_id: str, accounts: pl.DataFrame, tables: dict[str, pl.DataFrame]) -> None:
    """What holds of each account of a video."""
    for (of,), account in accounts.filter(~MetricScope.TTLB.rows).group_by("of", maintain_order=True):
        checks = (_whole(account), _served(account, tables), _causes(account, tables), _kernel(account, tables))
        found.untrue += [f"{trial_id}, {of}: {each}" for check in checks for each in check]


def _whole(account: pl.DataFrame) -> Iterator[str]:
    """Edges have a length and leave no gap; an event that tightened a window lies before the end of its wait."""
    if (account["until_ns"] <= account["from_ns"]).any():
        yield "an edge has no length"
    if (account["from_ns"][1:] != account["until_ns"][:-1]).any():
        yield "edges leave a gap"
    # A wait goes on while the link serves an acknowledgment, which waits for nothing, and in the parts of it in which a
    # program had no processor, or the client another address.
    parts = [str(Why.PROCESSOR), str(Why.CHANGE_OF_ADDRESS)]
    without_data = pl.col("what").is_in(_WITHOUT_DATA) & (pl.col("why") == str(Why.LINK_BUSY))
    wait = pl.when(~(without_data | pl.col("why").is_in(parts))).then("why").forward_fill()
    waits = account.with_columns(wait=wait).filter(~without_data)
    ends = waits.select("event_ns", pl.col("until_ns").max().over(pl.col("wait").rle_id()).alias("end_ns"))
    if ends.filter(pl.col("event_ns") > pl.col("end_ns") + _TOLD_LATER_NS).height:
        yield "a window was tightened after the wait that this is to explain"


def _link(account: pl.DataFrame, tables: dict[str, pl.DataFrame]) -> Iterator[str]:
    """Service and idle time add up to the span of the link's log, and the account has as much of the former."""
    log = tables["link_packets"].filter(direction="down").drop_nulls("left_ns")
    busy = spells(account).filter(why=str(Why.LINK_BUSY))
    if tables["link_packets"]["source"].n_unique() > 1 or busy.is_empty():
        return
    if account["why"].eq(str(Why.BROWSER)).any() or account["what"].eq("other_connection").any():
        yield from _within_busy(account, log)
        return
    begin, end = int(busy["from_ns"][0]), int(busy["until_ns"][-1])
    served = log.with_columns(begin=pl.col("left_ns") - pl.col("service_ns"))
    served = served.filter(pl.col("begin") >= begin, pl.col("left_ns") <= end).sort("left_ns")
    idle = (served["begin"][1:] - served["left_ns"][:-1]).sum()
    span = int(served["left_ns"][-1]) - int(served["begin"][0])
    if served["service_ns"].cast(pl.Int64).sum() + idle != span:
        yield "service and idle time of the link are not the span of its log"
    said = int((busy["until_ns"] - busy["from_ns"]).sum())
    # What the link serves of an answer that is not the response is no busy time of the account.
    if not span - idle - 1 <= said <= span - idle and _first_data(account) is None:
        yield f"the account has the link busy for {said / 1e6:.3f} ms, its log for {(span - idle) / 1e6:.3f}"


def _within_busy(account: pl.DataFrame, log: pl.DataFrame) -> Iterator[str]:
    """What an account of one connection of several says to be served lies in times in which the link serves."""
    served = account.filter(pl.col("packets").is_not_null(), pl.col("direction") == "down")
    times = log.select(begin=pl.col("left_ns") - pl.col("service_ns"), end=pl.col("left_ns")).sort("end").rows()
    places = [bisect_right(times, each, key=lambda time: time[1]) for each in served["from_ns"]]
    for place, begin, until in zip(places, served["from_ns"], served["until_ns"], strict=True):
        while place < len(times) and times[place][0] < until:
            if times[place][0] > begin:
                yield f"the account has the link busy from {begin}, its log from {times[place][0]}"
            begin, place = times[place][1], place + 1
        if begin < until:
            yield f"the account has the link busy until {until}, its log until {begin}"


def _served(account: pl.DataFrame, tables: dict[str, pl.DataFrame]) -> Iterator[str]:
    """A link has served for as long as the account of a wait says; it also serves acknowledgments between answers."""
    log = tables["link_packets"].filter(direction="down").drop_nulls("left_ns")
    if tables["link_packets"]["source"].n_unique() > 1:
        return
    busy = account.filter(why=str(Why.LINK_BUSY))
    said = int((busy["until_ns"] - busy["from_ns"]).sum())
    begin = pl.max_horizontal(pl.col("left_ns") - pl.col("service_ns"), account["from_ns"][0])
    served = log.select(pl.min_horizontal("left_ns", account["until_ns"][-1]) - begin).to_series()
    real = int(served.filter(served > 0).sum())
    if said > real:
        yield f"the account has the link busy for {said / 1e6:.3f} ms, its log for {real / 1e6:.3f}"


def _first_data(account: pl.DataFrame) -> int | None:
    """Place of an edge of another reason in which the bottleneck serves; None without one."""
    inside = account.with_row_index("place").filter(
        pl.col("packets").is_not_null(), pl.col("why") != str(Why.LINK_BUSY), pl.col("direction") == "down"
    )
    first = account.with_row_index("place").filter(pl.col("why") == str(Why.LINK_BUSY))["place"].min()
    later = inside.filter(pl.col("place") > first)
    return None if later.is_empty() else int(later["place"][0])


def _causes(account: pl.DataFrame, tables: dict[str, pl.DataFrame]) -> Iterator[str]:
    """Nothing comes before what it follows from: at the link, at its far end, and where an endpoint sends."""
    log = tables["link_packets"]
    written = pl.col("due_ns") + pl.col("lateness_ns")
    served = log.drop_nulls("left_ns")
    if served.filter(pl.col("left_ns") - pl.col("service_ns") < pl.col("arrival_ns")).height:
        yield "a packet was served before it came"
    if log.filter(pl.col("action") == "delivered", written < pl.col("left_ns")).height:
        yield "a packet arrived before it had been served"
    if log["source"].n_unique() > 1:
        return
    places = log.select("direction", pl.col("index").alias("packet_index"), "arrival_ns", written.alias("written_ns"))
    edges = account.join(places, on=("direction", "packet_index"), how="left", maintain_order="left")
    parts = pl.struct("what", "direction", "packet_index").rle_id()  # of one edge, by reason
    sendings = edges.filter(pl.col("what").is_in(_SENDINGS), pl.col("until_ns") == pl.col("until_ns").max().over(parts))
    if sendings.filter(pl.col("arrival_ns") != pl.col("until_ns")).height:
        yield "an endpoint's time does not end when its packet comes to the link"
    flights = edges.filter(pl.col("what").is_in(["propagation_up", "propagation_down"]))
    if flights.filter((pl.col("until_ns") > pl.col("written_ns")) | (pl.col("from_ns") < pl.col("arrival_ns"))).height:
        yield "a packet is on its way after it arrived, or before it came"
    lost = account.drop_nulls("event_packet").select("event_ns", pl.col("event_packet").alias("packet_index")).unique()
    sent = lost.join(places.filter(direction="down"), on="packet_index")
    if sent.filter(pl.col("event_ns") < pl.col("arrival_ns")).height:
        yield "a loss is known before its packet was sent"


def _unwritable(samples: pl.DataFrame, own: pl.DataFrame) -> pl.Series:
    """Whether each of some times has a sample in it, or shortly before, of a buffer that is full of what was sent."""
    full = samples.filter(
        pl.col("vantage") == "server",
        pl.col("notsent_bytes") == 0,
        3 * pl.col("wmem_queued_bytes").cast(pl.Int64) > 2 * pl.col("sndbuf_bytes").cast(pl.Int64),
    )["time_ns"]
    rows = own.select(pl.col("from_ns") - _NEAR_NS, "until_ns").iter_rows()
    return pl.Series([bool(full.is_between(begin, end).any()) for begin, end in rows], dtype=pl.Boolean)


def _kernel(account: pl.DataFrame, tables: dict[str, pl.DataFrame]) -> Iterator[str]:
    """Time that the account calls limited by receive window or send buffer is no more than the kernel counted.

    A send buffer counts too where samples show it unwritable with all of it sent: the kernel's clock may leave that
    out.
    """
    samples = tables.get("tcp_info", pl.DataFrame())
    for why, clock in ((Why.RECEIVE_WINDOW, "rwnd_limited_us"), (Why.SEND_BUFFER, "sndbuf_limited_us")):
        own = spells(account).filter(why=str(why), evidence="tcp_info")
        if own.is_empty() or samples.is_empty():
            continue
        if why is Why.SEND_BUFFER:
            own = own.filter(~_unwritable(samples, own))
        counted = float(samples.filter(vantage="server")[clock].max() or 0) / 1e3  # type: ignore[arg-type]
        said = float((own["until_ns"] - own["from_ns"]).sum()) / 1e6
        if said > counted + _TICK_MS * (1 + own.height):
            yield f"{why} takes {said:.1f} ms, of which the kernel counted {counted:.1f}"


def _free_shares(account: pl.DataFrame, tables: dict[str, pl.DataFrame]) -> pl.Series:
    """Share of TCP's window that is free in each sample within a wait for it, before the packet came that ended it.

    A sender may leave up to a third of it free, for a longer burst. The account looks at the last sample alone.
    """
    rows = tables.get("tcp_info", pl.DataFrame())
    waits = account.filter(
        pl.col("evidence") == "tcp_info", pl.col("why").is_in([str(why) for why in KINDS["window"]])
    ).filter(pl.col("what") != "server")
    if rows.is_empty() or waits.is_empty():
        return pl.Series([], dtype=pl.Float64)
    rows = rows.filter(pl.col("vantage") == "server", pl.col("notsent_bytes") > 0)
    parts = [pl.col(name).cast(pl.Int64) for name in ("unacked", "sacked", "lost", "retrans")]
    flying = parts[0] - parts[1] - parts[2] + parts[3]
    samples = rows.select("time_ns", free=1 - flying / pl.col("snd_cwnd"))
    samples = samples.drop_nulls().sort("time_ns")
    within = samples.join_asof(
        waits.select("from_ns", "until_ns").sort("from_ns"), left_on="time_ns", right_on="from_ns"
    )
    return within.filter(
        pl.col("time_ns") > pl.col("from_ns") + _LOOK_NS, pl.col("time_ns") < pl.col("until_ns") - _LOOK_NS
    )["free"]


def _paces_unbidden(account: pl.DataFrame, arm: ResolvedArm | None) -> bool:
    """Whether waits of TCP, for more than a hundredth of the whole, are pacing in an arm that asks for none."""
    tcp = arm.tcp if arm else None
    asked = tcp is not None and (tcp.pacing or any("bbr" in each for each in tcp.congestion_controls))
    paced = account.filter(pl.col("why") == str(Why.PACING), pl.col("evidence") == "tcp_info")
    return not asked and _length_ns(paced) > 0.01 * _length_ns(account)


def _length_ns(account: pl.DataFrame) -> int:
    return int((account["until_ns"] - account["from_ns"]).sum())


def _confuse(found: Facts, account: pl.DataFrame, evidence: Evidence) -> None:
    """Hold the reasons by the sender's word against those inferred without it, instant by instant."""
    told = evidence.tables.get(_OWN_WORD, pl.DataFrame())
    if told.is_empty() or not (account["evidence"] == _OWN_WORD).any():
        return
    tables = dict(evidence.tables)
    if (account["why"] == str(Why.PROCESSOR)).any():  # of which no sender can say a word
        del tables[_RUN_DELAYS]
        account = account_table(Evidence(tables, evidence.trial))
    without = account_table(Evidence({**tables, _OWN_WORD: told.clear()}, evidence.trial))
    for said, inferred, ns in _overlaps(account.filter(evidence=_OWN_WORD), without):
        found.confusion[_kind(said), _kind(inferred)] += ns / 1e6


def _overlaps(first: pl.DataFrame, second: pl.DataFrame) -> Iterator[tuple[str, str, int]]:
    rows = second.select("from_ns", "until_ns", "why").rows()
    place = 0
    for begin, end, why in first.select("from_ns", "until_ns", "why").iter_rows():
        while place and rows[place][0] > begin:
            place -= 1
        while place < len(rows) and rows[place][0] < end:
            common = min(end, rows[place][1]) - max(begin, rows[place][0])
            if common > 0:
                yield why, rows[place][2], common
            if rows[place][1] >= end:
                break
            place += 1


def _kind(why: str) -> str:
    return next((kind for kind, whys in KINDS.items() if why in whys), why)
