# SPDX-License-Identifier: Apache-2.0
"""Rates of improvement as Qin et al. 2023 define them: β of sites, γ of stalls, α of QUIC with and without 0-RTT."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import polars as pl

from quiclab import statistics
from quiclab.analysis.metric_values import by_cell_and_arm, mean
from quiclab.analysis.model import ArmResult, Metric, StudyAnalysis
from quiclab.analysis.study import Study, read_json

_TEXTS = ("path_title", "workload_title", "arm")
IMPROVEMENT = {
    **dict.fromkeys((*_TEXTS, "baseline_arm", "metric_title"), pl.String),
    **dict.fromkeys(("beta_pct", "alpha"), pl.Float64),
    "significant": pl.Boolean,
}
STALLS = {
    **dict.fromkeys((*_TEXTS, "benchmark_path"), pl.String),
    **dict.fromkeys(("stalls", "benchmark_stalls", "gamma_pct"), pl.Float64),
}
ZERO_RTT = {
    **dict.fromkeys(("path_title", "workload_title", "algorithm", "metric_title", "unit"), pl.String),
    **dict.fromkeys(("tcp", "quic", "quic_alpha_pct", "zero_rtt", "zero_rtt_alpha_pct"), pl.Float64),
    **dict.fromkeys(("accepted", "offered"), pl.Int64),
}


def improvement(analysis: StudyAnalysis) -> pl.DataFrame:
    """β of every arm but the baseline, in every cell."""
    rows = [
        {
            "path_title": analysis.path_titles.get(c.path, c.path),
            "workload_title": analysis.workload_titles.get(c.workload, c.workload),
            "arm": c.other.arm,
            "baseline_arm": c.baseline.arm,
            "beta_pct": c.difference_pct,
            "significant": c.outcome.significant,
            "metric_title": analysis.metric.title,
            "alpha": analysis.alpha,
        }
        for c in analysis.comparisons
    ]
    return pl.DataFrame(rows, schema=IMPROVEMENT)


def stall_reduction(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """γ of every arm in every cell with a video; 0 of the benchmark itself."""
    counts = {key: mean(values) for key, values in by_cell_and_arm(study, "stalls").items()}
    without = _without_loss(study)
    rows: list[dict[str, Any]] = []
    for path in analysis.paths:
        for workload in analysis.workloads:
            here = [c for c in analysis.comparisons if (c.path, c.workload) == (path, workload)]
            arms = [here[0].baseline.arm, *(c.other.arm for c in here)] if here else []
            benchmark = without.get(path)
            cell = next((c for c in analysis.comparisons if (c.path, c.workload) == (benchmark, workload)), None)
            stalls = counts.get((cell.cell_id, cell.baseline.arm)) if cell else None
            for arm in arms:
                own = counts.get((here[0].cell_id, arm))
                if own is None:
                    continue
                rows.append(
                    {
                        "path_title": analysis.path_titles.get(path, path),
                        "workload_title": analysis.workload_titles.get(workload, workload),
                        "arm": arm,
                        "stalls": own,
                        "benchmark_path": None if benchmark is None else analysis.path_titles.get(benchmark, benchmark),
                        "benchmark_stalls": stalls,
                        "gamma_pct": 100 * (stalls - own) / stalls if stalls else None,
                    }
                )
    return pl.DataFrame(rows, schema=STALLS)


def _without_loss(study: Study) -> dict[str, str]:
    """Path → the path that is the same but for having no loss; itself where it has none."""
    paths = study.items("paths")
    clean = {_but_loss(path): str(path["name"]) for path in paths if not _loses(path)}
    return {str(path["name"]): clean[_but_loss(path)] for path in paths if _but_loss(path) in clean}


def _loses(value: Any) -> bool:
    if isinstance(value, dict):
        return any(inner is not None if key == "loss" else _loses(inner) for key, inner in value.items())
    return isinstance(value, list) and any(_loses(inner) for inner in value)


def _but_loss(value: Any) -> str:
    """A path without its names and its loss, as a text to compare."""
    if isinstance(value, dict):
        kept = {key: _but_loss(inner) for key, inner in value.items() if key not in ("name", "title", "loss")}
        return repr(sorted(kept.items()))
    return repr([_but_loss(inner) for inner in value] if isinstance(value, list) else value)


def zero_rtt(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """α of QUIC with and without 0-RTT against TCP of the same congestion control; empty where no arm offers 0-RTT."""
    arms = {str(arm["name"]): arm for arm in study.items("arms")}
    early = {name for name, arm in arms.items() if _session(arm) == "early_data"}
    results: dict[tuple[str, str], dict[str, ArmResult]] = {}
    for c in analysis.comparisons:
        results.setdefault((c.path, c.workload), {}).update({c.baseline.arm: c.baseline, c.other.arm: c.other})
    # α is about full handshakes and 0-RTT: a session that is resumed without it is neither.
    resumed = {name for name, arm in arms.items() if _session(arm) == "resumed"}
    over_tcp = [name for name, arm in arms.items() if arm.get("protocol") != "h3" and name not in resumed]
    rows: list[dict[str, Any]] = []
    for (path, workload), here in results.items() if early else ():
        place = {
            "path_title": analysis.path_titles.get(path, path),
            "workload_title": analysis.workload_titles.get(workload, workload),
            "metric_title": analysis.metric.title,
            "unit": analysis.metric.unit,
        }
        for tcp in (name for name in over_tcp if name in here):
            algorithm = _algorithm(arms[tcp])
            over_quic = [name for name in here if arms.get(name, {}).get("protocol") == "h3"]
            same = [name for name in over_quic if _algorithm(arms[name]) == algorithm]
            if not same and len(over_tcp) == 1:  # nothing else that they could be held against
                same, algorithm = over_quic, None
            full, offers = [n for n in same if n not in early | resumed], [n for n in same if n in early]
            for quic, zero in zip_longest(full, offers):
                rows.append(place | {"algorithm": algorithm} | _alphas(study, analysis.metric, here, tcp, quic, zero))
    return pl.DataFrame(rows, schema=ZERO_RTT)


def _alphas(
    study: Study, metric: Metric, here: dict[str, ArmResult], tcp: str, quic: str | None, zero: str | None
) -> dict[str, Any]:
    found: dict[str, Any] = {"tcp": _finite(here[tcp].median), "accepted": 0, "offered": 0}
    for name, arm in (("quic", quic), ("zero_rtt", zero)):
        value = None if arm is None else _finite(here[arm].median)
        found[name], found[f"{name}_alpha_pct"] = value, None
        if value is not None and found["tcp"] is not None:
            alpha = statistics.difference_pct(found["tcp"], value, lower_is_better=metric.lower_is_better)
            found[f"{name}_alpha_pct"] = alpha
    for trial in here[zero].trials if zero is not None else ():
        if trial.status == "verified":
            proof = read_json(study.directory / "trials" / trial.trial_id / "trial.json", []).get("proof")
            found["offered"] += 1
            found["accepted"] += isinstance(proof, dict) and proof.get("early_data") == "accepted"
    return found


def _session(arm: dict[str, Any]) -> object:
    return _knobs(arm.get("client")).get("session")


def _algorithm(arm: dict[str, Any]) -> str | None:
    """Congestion control of whoever sends to the client; None where the spec names none."""
    if arm.get("protocol") != "h3":
        tcp = arm.get("tcp")
        named = tcp.get("congestion_control") if isinstance(tcp, dict) else None
    else:
        named = _knobs(arm.get("proxy") or arm.get("server")).get("congestion_control")
    return str(named) if named else None


def _knobs(program: object) -> dict[str, Any]:
    knobs = program.get("knobs") if isinstance(program, dict) else None
    return knobs if isinstance(knobs, dict) else {}


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) != float("inf") else None
