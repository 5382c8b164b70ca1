# SPDX-License-Identifier: Apache-2.0
"""Trials written by hand, by the edges of their account and the few rows of tables that tell mechanisms apart.

Times in ms. The path takes 10 ms each way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from trial_records import record

from quiclab.evidence.metrics import evidence_of
from quiclab.model.tables import TABLES
from quiclab.why.account import What, Why
from quiclab.why.mechanisms import BY_NAME, Trial, with_mechanisms

WAY_MS = 10.0
Row = dict[str, Any]


def ns(ms: float) -> int:
    """An instant of a scene in ns."""
    return round((1000 + ms) * 1e6)


def edge(why: Why, ms: float, what: What = What.PROPAGATION_UP, **columns: Any) -> Row:
    """One edge of an account, that long."""
    return {"why": str(why), "what": str(what), "ms": ms, "evidence": "link_packets", **columns}


def full(why: Why, **columns: Any) -> list[Row]:
    """A round trip in which a window or a credit is used up."""
    return [edge(why, WAY_MS, What.PROPAGATION_DOWN, **columns), edge(why, WAY_MS, **columns)]


def busy(ms: float = 1, what: What = What.PAYLOAD, **columns: Any) -> Row:
    """The bottleneck serves 1,250 bytes in each ms."""
    size = round(1250 * ms)
    return edge(Why.LINK_BUSY, ms, what, packets=max(1, size // 1250), size_bytes=size, **columns)


@dataclass
class Case:
    """A trial that is being written."""

    edges: list[Row]
    protocol: str = "h3"
    record: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    threshold: int = 0
    """Slow-start threshold of TCP in packets; 0 of one that is always the window."""

    def add(self, table: str, **row: Any) -> Case:
        """Add a row to a table."""
        self.rows.setdefault(table, []).append(row)
        return self

    def packet(self, direction: str, index: int, ms: float, reason: str = "", **row: Any) -> Case:
        """A packet that came to the link: it waited for `queue_ms` (none), and was dropped if a reason is given."""
        left_ms = ms + row.pop("queue_ms", 0.0) + 1
        told: Row = {"action": "dropped", "reason": reason, "left_ns": row.pop("served_ns", None)}
        if not reason:
            told = {"action": "delivered", "left_ns": ns(left_ms), "due_ns": ns(left_ms + WAY_MS), "lateness_ns": 0}
        usual = {"source": "raw/link.qplog", "direction": direction, "index": index, "arrival_ns": ns(ms), "flow": 1}
        usual |= {"size_bytes": 1250, "service_ns": 1_000_000, "duplicate": False, "corrupted": False, "ecn_ce": False}
        return self.add("link_packets", **(usual | told | row))

    def captured(self, end: str, direction: str, index: int, ms: float, **row: Any) -> Case:
        """A packet in the capture of one end."""
        usual = {"source": f"raw/{end}.pcapng", "vantage": end, "direction": direction, "packet_index": index}
        usual |= {"number": index, "protocol": "udp" if self.protocol == "h3" else "tcp", "payload_bytes": 1222}
        return self.add("ip_packets", **(usual | {"time_ns": ns(ms)} | row))

    def logged(self, end: str, direction: str, index: int, event: str, **row: Any) -> Case:
        """A packet in the log of one end's program."""
        usual = {"source": f"raw/{end}.sqlog", "vantage": end, "direction": direction, "packet_index": index}
        usual |= {"event": event, "packet_type": "1RTT", "packet_number": index, "transport": "quic"}
        return self.add("packets", **(usual | {"time_ns": ns(0)} | row))

    def waited(self, role: str, ms: float) -> Case:
        """Add a look at a program, over the whole trial: a thread of it waited so long for a processor."""
        ns = int(ms * 1e6)
        return self.add(
            "run_delays", time_ns=10**12, since_ns=-(10**12), role=role, waited_ns=ns, longest_ns=ns, threads=1
        )

    def window(self, *steps: tuple[float, int], metric: str = "transport_metrics") -> Case:
        """The server's congestion window in packets from each instant on."""
        for ms, packets in steps:
            if metric == "tcp_info":
                told: Row = {
                    "snd_cwnd": packets,
                    "snd_ssthresh": self.threshold or packets,
                    "ca_state": "open",
                    "data_segs_out": 1,
                }
                self.add("tcp_info", vantage="server", connection="c", time_ns=ns(ms), **told)
            else:
                row = {"vantage": "server", "transport": "quic", "estimate": False, "cwnd_bytes": 1200 * packets}
                self.add("transport_metrics", time_ns=ns(ms), **row)
        return self

    def trial(self) -> Trial:
        """The trial as mechanisms see it."""
        tables = {name: _frame(name, rows) for name, rows in self.rows.items()}
        return Trial(evidence_of(tables, record({"protocol": self.protocol, **self.record})), self.account())

    def account(self) -> pl.DataFrame:
        """The account, its edges one behind the other from 0 on."""
        at_ms, rows = 0.0, []
        for each in self.edges:
            row = {key: value for key, value in each.items() if key != "ms"}
            rows.append(row | {"from_ns": ns(at_ms), "until_ns": ns(at_ms + each["ms"])})
            at_ms += each["ms"]
        return _frame("account", rows)


def _frame(table: str, rows: list[Row]) -> pl.DataFrame:
    schema = TABLES[table].schema()
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def named(case: Case) -> dict[str, float]:
    """Mechanism → ms of a case's account; "" for what none claims. One that is a part of others' time has it twice."""
    trial = case.trial()
    account, numbers = with_mechanisms(trial.evidence, trial.account)
    rows = numbers.filter(pl.col("fact") == "time").select("mechanism", "value").iter_rows()
    found: dict[str, float] = {name: ms for name, ms in rows if BY_NAME[name].divides is not None}
    for name, length in account.select("mechanism", pl.col("until_ns") - pl.col("from_ns")).iter_rows():
        found[name or ""] = found.get(name or "", 0) + length / 1e6
    return found


def facts(case: Case, mechanism: str) -> Mapping[str, float | str]:
    """The facts of one mechanism: a number, or what speaks against it."""
    trial = case.trial()
    rows = with_mechanisms(trial.evidence, trial.account)[1].filter(pl.col("mechanism") == mechanism)
    return {name: told or value for name, value, told in rows.select("fact", "value", "told").iter_rows()}
