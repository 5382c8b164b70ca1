# SPDX-License-Identifier: Apache-2.0
"""The share of the time that QUIC saves against TCP with the same congestion control, with and without 0-RTT (Qin et
al. 2023, Table I)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _table


class ZeroRtt:
    """A table: α = (TCP − QUIC) / TCP, a row per page, network and congestion control."""

    name = "zero_rtt"
    question = "How much of the time does QUIC save, how much more with 0-RTT, and was 0-RTT really used?"
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet", "trials/*/trial.json")
    columns = {  # noqa: RUF012 - a constant of the class
        "workload_title": "page",
        "path_title": "network",
        "algorithm": "congestion control of both; empty where QUIC's is not named",
        "metric_title": "what is compared",
        "unit": "its unit",
        "tcp": "median over TCP; null where half of its trials failed",
        "quic": "median over QUIC with a full handshake",
        "quic_alpha_pct": "(tcp − quic) / tcp × 100; null where there is none",
        "zero_rtt": "median over QUIC whose client had a session and offered 0-RTT",
        "zero_rtt_alpha_pct": "(tcp − zero_rtt) / tcp × 100",
        "accepted": "trials that prove that the server took the early data",
        "offered": "verified trials of that arm",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per page, network and congestion control."""
        rows = [
            [
                f"{row['workload_title']}\n{row['path_title']}",
                row["algorithm"] or "–",
                _number(row["tcp"]),
                _number(row["quic"]),
                _percent(row["quic_alpha_pct"]),
                _number(row["zero_rtt"]),
                _percent(row["zero_rtt_alpha_pct"]),
                f"{row['accepted']} of {row['offered']}" if row["offered"] else "–",
            ]
            for row in data.iter_rows(named=True)
        ]
        unit = data["unit"][0]
        headings = ["page, network", "congestion control", f"TCP, {unit}", f"QUIC, {unit}", "α", f"QUIC 0-RTT, {unit}",
                    "α", "0-RTT accepted"]  # fmt: skip
        note = f"{data['metric_title'][0]}, medians; α = (TCP − QUIC) / TCP with the same congestion control"
        return _table.draw(headings, rows, words=2, note=note)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:+.1f} %".replace("-", "−")
