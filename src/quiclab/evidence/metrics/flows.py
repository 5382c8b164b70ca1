# SPDX-License-Identifier: Apache-2.0
"""The tables `flow_throughput` and `flows`: what each flow of a competition got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from quiclab.evidence.metrics import quic, tcp
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.evidence.metrics.measured_flow import flow_tables, server_packets
from quiclab.evidence.metrics.retransmission import retransmitted_bytes
from quiclab.model.tables import TABLES
from quiclab.model.trial_record import Competition, Flow, TrialRecord

STEP_NS = 100_000_000
_LEAST_SAMPLES = 10
"""Fewest samples of the round-trip time that make a mean: those of a handshake alone do not."""


@dataclass(frozen=True)
class Common:
    """The time in which all downloads ran, from the start of the last to the end of the competition."""

    start_ns: int
    end_ns: int

    @property
    def s(self) -> float:
        """Length in seconds; 0 or less if the downloads never ran at the same time."""
        return (self.end_ns - self.start_ns) / 1e9

    def holds(self, column: str = "time_ns") -> pl.Expr:
        """Rows whose instant lies in the common time."""
        return pl.col(column).is_between(self.start_ns, self.end_ns)


def downloads(competition: Competition) -> list[Flow]:
    """The flows that are compared; the measured one is the first."""
    return [flow for flow in competition.flows if flow.background is None]


def common_time(competition: Competition) -> Common:
    """Return the time in which all downloads ran."""
    starts = [flow.started_ns or competition.ended_ns for flow in downloads(competition)]
    return Common(max(starts), competition.ended_ns)


def flow_throughput(tables: Mapping[str, pl.DataFrame], trial: TrialRecord) -> pl.DataFrame:
    """One row per flow and step; without rows where the trial was no competition."""
    table = TABLES["flow_throughput"].empty()
    competition = trial.competition
    if competition is None:
        return table
    began_ns, ended_ns = competition.began_ns, competition.ended_ns
    steps = pl.DataFrame({"step": range(-(-(ended_ns - began_ns) // STEP_NS))}, schema={"step": pl.Int64})
    arrived = _arrived(tables).filter(pl.col("time_ns").is_between(began_ns, ended_ns, closed="left"))
    for flow in competition.flows:
        own = arrived.filter(server_packets(flow.server_address, flow.server_port))
        counted = own.group_by(step=(pl.col("time_ns") - began_ns) // STEP_NS).agg(pl.col("size_bytes").sum())
        rows = steps.join(counted, on="step", how="left", maintain_order="left").select(
            flow=pl.lit(flow.label),
            time_ms=pl.min_horizontal((pl.col("step") + 1) * STEP_NS, ended_ns - began_ns) / 1e6,
            bytes=pl.col("size_bytes").fill_null(0).cast(pl.UInt64),
        )
        table.extend(rows)
    return table


def flows(tables: Mapping[str, pl.DataFrame], trial: TrialRecord) -> pl.DataFrame:
    """One row per flow, the measured one first; without rows where the trial was no competition."""
    competition = trial.competition
    if competition is None:
        return TABLES["flows"].empty()
    common, arrived = common_time(competition), _arrived(tables)
    in_common = arrived.filter(common.holds())
    got = {
        flow.label: int(in_common.filter(server_packets(flow.server_address, flow.server_port))["size_bytes"].sum())
        for flow in competition.flows
    }
    together = sum(got[flow.label] for flow in downloads(competition))
    rows = []
    for flow in competition.flows:
        own = Evidence(flow_tables(tables, trial, flow), msgspec.structs.replace(trial, protocol=flow.protocol))
        download, received = flow.background is None, got[flow.label]
        rows.append(
            {
                "flow": flow.label,
                "arm": flow.arm,
                "background": flow.background,
                "protocol": flow.protocol,
                "started_ms": ((flow.started_ns or competition.ended_ns) - competition.began_ns) / 1e6,
                "throughput_bit_per_s": received * 8 / common.s if common.s > 0 else None,
                "share_pct": 100 * received / together if download and together else None,
                "goodput_bit_per_s": _goodput(own, common),
                **_losses(own),
                "retransmitted_bytes": _known(retransmitted_bytes, own) if download else None,
                "rtt_mean_ms": _rtt_mean_ms(own, common),
            }
        )
    return pl.DataFrame(rows, schema=TABLES["flows"].schema())


def _arrived(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Packets that came to the client's end."""
    packets = tables["ip_packets"]
    return packets.filter(pl.col("vantage") == "client", pl.col("direction") == "down", pl.col("dropped").is_null())


def _goodput(own: Evidence, common: Common) -> float | None:
    if common.s <= 0 or own.trial.protocol == "udp":
        return None
    try:
        return (_first_time_quic(own, common) if own.quic else _first_time_tcp(own, common)) * 8 / common.s
    except Unknown:
        return None


def _first_time_tcp(own: Evidence, common: Common) -> int:
    new = 0
    for segments in tcp.sent_segments(own, "client", "down"):
        seen = IntervalSet()
        for time_ns, start, end in segments:
            added = seen.add_length(start, end)
            new += added if common.start_ns <= time_ns <= common.end_ns else 0
    return new


def _first_time_quic(own: Evidence, common: Common) -> int:
    arrivals = quic.arrivals(own)
    seen: dict[tuple[str, int], IntervalSet] = {}
    new = 0
    for frame in quic.stream_frames(own, "client", "received"):
        added = seen.setdefault(frame.stream, IntervalSet()).add_length(frame.start, frame.end)
        time_ns = arrivals.get(frame.packet, 0)
        if quic.is_request_stream(frame.stream_id) and common.start_ns <= time_ns <= common.end_ns:
            new += added
    return new


def _losses(own: Evidence) -> dict[str, float | None]:
    sent = own.packets("server", "down", transports=("tcp", "udp"))
    lost = sent["dropped"].drop_nulls().len()
    share = 100 * lost / sent.height if sent.height else None
    return {"packets_down": sent.height, "lost_packets_down": lost, "loss_down_pct": share}


def _rtt_mean_ms(own: Evidence, common: Common) -> float | None:
    samples = own.table("transport_metrics").filter(pl.col("vantage") == "server", common.holds())
    rtt_ms = samples["latest_rtt_ms"].drop_nulls()
    return float(rtt_ms.mean()) if rtt_ms.len() >= _LEAST_SAMPLES else None  # type: ignore[arg-type]


def _known(metric: Any, own: Evidence) -> float | None:
    try:
        return float(metric(own))
    except Unknown:
        return None
