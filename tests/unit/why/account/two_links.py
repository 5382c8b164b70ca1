# SPDX-License-Identifier: Apache-2.0
"""HTTP/3 responses written by hand over two links in a row: `near` at the client takes 4 ms, `far` 6 ms.

The links are queues that serve in order of arrival; how long they serve each packet down is said with the packet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from decoders import writers
from trial_records import record
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import Quic

from quiclab.evidence.metrics import Evidence, evidence_of
from quiclab.logs.decoders import decode_trial

NEAR, FAR = "raw/link.qplog", "raw/link-2.qplog"
_DELAY_MS = {NEAR: 4.0, FAR: 6.0}
LINKS = [
    {"name": name, "leg": "client", "packet_log": f"{log}.qplog", "capture_client": "c", "capture_server": "s"}
    for name, log in (("near", "link"), ("far", "link-2"))
]


class OverTwoLinks(Quic):
    """The story of `Quic` with both links' logs."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._free: dict[tuple[str, str], float] = {}
        self._service: tuple[float, float] = (0, 0)
        self._lost_at: str | None = None
        super().__init__()

    def served(self, ms: float, offset: int, far_ms: float, near_ms: float, **how: Any) -> float:
        """One packet down that the links take so long to serve; returns when it arrives."""
        self._service, self._lost_at = (far_ms, near_ms), how.pop("lost_at", None)
        self.down(ms, offset, lost=self._lost_at is not None, **how)
        self._service, self._lost_at = (0, 0), None
        return self._arrived

    def evidence(self, ms: float, body_bytes: int, folder: Path) -> Evidence:
        """The trial, which ends at that time."""
        scene = self.end(ms, body_bytes)
        trial = {**scene.lay_out(folder), "links": LINKS}
        tables = dict(decode_trial(folder).tables)
        shown = tables["link_packets"]
        rows = [{name: row.get(name) for name in shown.columns} for row in self.rows]
        tables["link_packets"] = pl.DataFrame(rows, schema=shown.schema)
        # What is lost between them has another number at the far end.
        for vantage, direction, log in (("client", "down", NEAR), ("server", "up", FAR)):
            numbers = {r["written"]: r["index"] for r in self.rows if (r["source"], r["direction"]) == (log, direction)}
            there = (pl.col("vantage") == vantage) & (pl.col("direction") == direction)
            number = pl.col("time_ns").replace_strict(numbers, default=None, return_dtype=pl.UInt32)
            tables["ip_packets"] = tables["ip_packets"].with_columns(
                pl.when(there).then(number).otherwise("packet_index").alias("packet_index")
            )
        return evidence_of(tables, record(trial))

    def _send(
        self, direction: str, ms: float, frames: list[dict[str, Any]], length: int, *more: Any, **how: Any
    ) -> None:
        self._arrived = self._pass(direction, ms, length + 28)
        super()._send(direction, ms, frames, length, *more, way_ms=self._arrived - ms, **how)

    def _pass(self, direction: str, ms: float, size: int) -> float:
        links = (NEAR, FAR) if direction == "up" else (FAR, NEAR)
        services = (0.0, 0.0) if direction == "up" else self._service
        at = ms
        for log, service in zip(links, services, strict=True):
            left = max(at, self._free.get((log, direction), 0)) + service
            due = left + _DELAY_MS[log]
            lost = log == self._lost_at
            same = [row for row in self.rows if (row["source"], row["direction"]) == (log, direction)]
            row = {"source": log, "direction": direction, "index": len(same), "arrival_ns": ns(at), "size_bytes": size}
            row |= {"flow": 7, "service_ns": round(service * 1e6), "duplicate": False, "corrupted": False}
            row |= {"reordered": False, "action": "dropped" if lost else "delivered", "written": ns(due)}
            row |= {"reason": "loss_entry"} if lost else {"due_ns": ns(due), "lateness_ns": 0, "left_ns": ns(left)}
            self.rows.append(row)
            if lost:
                break
            self._free[log, direction] = left
            at = due
        return at


__all__ = ["FAR", "NEAR", "OverTwoLinks", "writers"]
