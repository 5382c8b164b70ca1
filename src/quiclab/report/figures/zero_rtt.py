# SPDX-License-Identifier: Apache-2.0
"""The share of the time that QUIC saves against TCP with the same congestion control, with and without 0-RTT (Qin et
al. 2023, Table I)."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any, ClassVar

import polars as pl

from quiclab.compare.model import ArmResult
from quiclab.model.resolved_record import ResolvedArm
from quiclab.report.figures import _table
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_SCHEMA = {
    **dict.fromkeys(("path_title", "workload_title", "algorithm", "metric_title", "unit"), pl.String),
    **dict.fromkeys(("tcp", "quic", "quic_alpha_pct", "zero_rtt", "zero_rtt_alpha_pct"), pl.Float64),
    **dict.fromkeys(("accepted", "offered"), pl.Int64),
}


class ZeroRtt(Figure):
    """A table: α = (TCP − QUIC) / TCP, a row per page, network and congestion control."""

    name = "zero_rtt"
    question = "How much of the time does QUIC save, how much more with 0-RTT, and was 0-RTT really used?"
    where = Where.STUDY
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet", "trials/*/trial.json")
    columns: ClassVar = {
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

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return α of QUIC with and without 0-RTT against TCP of the same congestion control; no row without 0-RTT."""
        arms = asked.files.arms
        early = {name for name, arm in arms.items() if _session(arm) == "early_data"}
        results: dict[tuple[str, str], dict[str, ArmResult]] = {}
        for c in asked.analysis.comparisons:
            results.setdefault((c.path, c.workload), {}).update({c.baseline.arm: c.baseline, c.other.arm: c.other})
        # α is about full handshakes and 0-RTT: a session that is resumed without it is neither.
        resumed = {name for name, arm in arms.items() if _session(arm) == "resumed"}
        over_tcp = [name for name, arm in arms.items() if arm.protocol != "h3" and name not in resumed]
        rows: list[dict[str, object]] = []
        for (path, workload), here in results.items() if early else ():
            place = {
                "path_title": asked.analysis.path_titles.get(path, path),
                "workload_title": asked.analysis.workload_titles.get(workload, workload),
                "metric_title": asked.analysis.metric.title,
                "unit": asked.analysis.metric.unit,
            }
            for tcp in (name for name in over_tcp if name in here):
                algorithm = _algorithm(arms[tcp])
                over_quic = [name for name in here if name in arms and arms[name].protocol == "h3"]
                same = [name for name in over_quic if _algorithm(arms[name]) == algorithm]
                if not same and len(over_tcp) == 1:  # nothing else that they could be held against
                    same, algorithm = over_quic, None
                full, offers = [n for n in same if n not in early | resumed], [n for n in same if n in early]
                for quic, zero in zip_longest(full, offers):
                    rows.append(place | {"algorithm": algorithm} | _alphas(asked, here, tcp, quic, zero))
        return pl.DataFrame(rows, schema=_SCHEMA)

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


def _alphas(
    asked: Asked, here: dict[str, ArmResult], tcp: str, quic: str | None, zero: str | None
) -> dict[str, object]:
    baseline = _finite(here[tcp].median)
    found: dict[str, object] = {"tcp": baseline}
    for name, arm in (("quic", quic), ("zero_rtt", zero)):
        value = None if arm is None else _finite(here[arm].median)
        found[name], found[f"{name}_alpha_pct"] = value, None
        if value is not None and baseline is not None:
            found[f"{name}_alpha_pct"] = alpha_pct(
                baseline, value, lower_is_better=asked.analysis.metric.lower_is_better
            )
    offered = [each for each in here[zero].trials if each.status == "verified"] if zero is not None else []
    accepted = sum(asked.proof(each.trial_id).early_data == "accepted" for each in offered)
    return found | {"accepted": accepted, "offered": len(offered)}


def alpha_pct(tcp: float, quic: float, *, lower_is_better: bool = True) -> float | None:
    """Qin et al.'s α = (TCP − QUIC) / TCP in per cent: what QUIC saves. None where it has no meaning: a value of zero,
    or one that is unknown or censored. Of what is better high it is what QUIC has more."""
    if not (math.isfinite(tcp) and math.isfinite(quic)) or tcp == 0:
        return None
    saved = (tcp - quic) / tcp * 100
    return saved if lower_is_better else -saved


def _session(arm: ResolvedArm) -> str | None:
    return arm.client.knobs.session if arm.client else None


def _algorithm(arm: ResolvedArm) -> str | None:
    """Return the congestion control of the program that sends to the client; None where the spec names none."""
    if arm.protocol == "h3":
        return arm.front.knobs.congestion_control
    return arm.tcp.congestion_control if arm.tcp else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) != float("inf") else None
