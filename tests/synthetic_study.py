# SPDX-License-Identifier: Apache-2.0
"""Study directories without a study: every file that the analysing side reads, drawn from a seed.

The times follow a simple model (round trips of set-up plus bytes over rate), so that the figures look like figures.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

SIZES = {"100 KB": 100_000, "1 MB": 1_000_000, "5 MB": 5_000_000}
RATE_BIT_PER_S = 10_000_000
# Name: base RTT in ms, loss in per cent of each direction, and how much faster h3 is there (negative: slower).
PATHS = {
    "clean": (20.0, 0.0, 0.0),
    "loss": (20.0, 1.0, 0.22),
    "far": (120.0, 0.0, 0.08),
}
TITLES = {"clean": "nothing added", "loss": "1 % loss", "far": "100 ms more RTT"}
ARMS = ("h2", "h3")

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Shape:
    """What kind of study to write."""

    workloads: tuple[str, ...] = tuple(SIZES)
    paths: tuple[str, ...] = tuple(PATHS)
    blocks: int = 9
    aa_blocks: int = 9
    failures: frozenset[tuple[str, str, int]] = frozenset({("loss/5 MB", "h2", 3), ("loss/5 MB", "h2", 6)})
    """(path/workload, arm, block) of trials that failed."""
    voids: frozenset[tuple[str, str, int]] = frozenset(
        {*(("far/1 MB", "h3", block) for block in (2, 5, 7)), ("clean/1 MB", "h2", 1)}
    )
    """Trials whose first attempt was void."""
    lost: frozenset[tuple[str, str, int]] = frozenset()
    """Trials of which every attempt was void."""
    disturbed: dict[str, float] = field(default_factory=dict)
    """Arm: per cent of its trials' times that the laboratory may have added at most; nothing is known of others."""
    repeats: dict[str, float] = field(default_factory=dict)
    """Arm: time of its void attempts, without what the laboratory added, in its usual ones; not known of others."""
    slower: frozenset[str] = frozenset({"far/100 KB"})
    """Cells in which h3 is slower by its path's effect."""
    seed: int = 1
    factors: dict[str, float] = field(default_factory=dict)
    """Arm: what its times are multiplied with, as if another build ran."""
    baselines: dict[str, str] = field(default_factory=dict)
    """Arm: its baseline, itself of a baseline, where there are other arms than two; `h2-nginx` has the server nginx."""
    host: dict[str, Any] = field(default_factory=dict)
    """What `host.json` says beside or instead of the usual."""
    resolved: dict[str, Any] = field(default_factory=dict)
    """What `resolved.json` says beside or instead of the usual."""
    arms_summary: dict[str, Any] | None = field(
        default_factory=lambda: {
            "text": "h2 = Caddy + curl, HTTP/2 on TCP (reno, initial window 32); h3 = Caddy + curl, HTTP/3 on QUIC "
            "(NewReno, initial window 32). They differ in: loss response (0.5 against 0.7), packet size (1448 against "
            "1232 bytes).",
            "differences": [
                "Window after a loss: h2 keeps 0.5 of it, h3 keeps 0.7",
                "Largest payload of a packet: h2 1448 bytes, h3 1232 bytes",
                "Receive window: h2 up to 6 MiB (tcp_rmem), h3 up to 15 MB",
            ],
        }
    )


_MADE: dict[str, dict[str, dict[str, bytes]]] = {}
"""Shape → folder → the files in it: many tests write the same ones."""


def write_study(directory: Path, shape: Shape = Shape()) -> Path:
    """Write the study directory and return it."""
    if (name := repr(shape)) not in _MADE:
        with TemporaryDirectory() as folder:
            walked = os.walk(_made(Path(folder), shape))
            _MADE[name] = {
                os.path.relpath(parent, folder): {file: Path(parent, file).read_bytes() for file in files}
                for parent, _, files in walked
            }
    # Some five hundred files: a `Path` for each would take longer than writing them.
    for inner, files in _MADE[name].items():
        parent = os.path.join(directory, inner)  # noqa: PTH118
        os.makedirs(parent, exist_ok=True)  # noqa: PTH103
        for file, content in files.items():
            with open(f"{parent}/{file}", "wb", buffering=0) as out:  # noqa: PTH123
                out.write(content)
    return directory


def _made(directory: Path, shape: Shape) -> Path:
    rng = np.random.default_rng(shape.seed)
    trials: Rows = []
    metrics: Rows = []
    arms = tuple(shape.baselines) or ARMS
    for path in shape.paths:
        for workload in shape.workloads:
            _cell(directory, shape, rng, trials, metrics, "main", workload, path, arms)
    for arm in arms if shape.aa_blocks else ():
        _cell(
            directory, shape, rng, trials, metrics, "aa", shape.workloads[-1], shape.paths[0], (f"{arm}#1", f"{arm}#2")
        )
    _write(directory / "tables" / "trials.parquet", trials)
    _write(directory / "metrics.parquet", metrics)
    (directory / "resolved.json").write_text(json.dumps(_resolved(shape)), encoding="utf-8")
    (directory / "host.json").write_text(
        json.dumps({"kernel": "6.1.0", "cpu": {"model": "Example", "cores": 2}} | shape.host), encoding="utf-8"
    )
    (directory / "spec.toml").write_text('name = "synthetic"\nseed = 1\n# a <comment> & more\n', encoding="utf-8")
    return directory


def _cell(
    directory: Path, shape: Shape, rng: np.random.Generator, trials: Rows, metrics: Rows, kind: str,
    workload: str, path: str, arms: tuple[str, ...],
) -> None:  # fmt: skip
    cell_id = f"{workload}/{path}" + ("" if kind == "main" else f"/aa-{arms[0].partition('#')[0]}")
    for block in range(shape.blocks if kind == "main" else shape.aa_blocks):
        for position, arm in enumerate(rng.permutation(arms)):
            key = (f"{path}/{workload}", str(arm), block)
            row = {
                "trial_id": f"{len(trials):08x}", "attempt": 1, "kind": kind, "cell_id": cell_id, "workload": workload,
                "path": path, "arm": str(arm), "baseline_arm": shape.baselines.get(str(arm), arms[0]),
                "block": block, "position": position,
                "seed": str(block), "status": "verified", "reason": None,
            }  # fmt: skip
            if key in shape.voids | shape.lost:
                trials.append(row | {"status": "void", "reason": "link late: p99 180 us"})
                _void(directory, shape, row)
                row["attempt"] = 2
            if key in shape.lost:
                continue
            if key in shape.failures:
                row |= {"status": "failed", "reason": "client reached its time limit of 60 s"}
            else:
                _verified(directory, shape, rng, metrics, row)
            trials.append(row)


def _usual_ms(shape: Shape, row: dict[str, Any]) -> float:
    """Time of a trial without noise."""
    rtt_ms, loss_pct, effect = PATHS.get(row["path"], (20.0, 0.0, 0.0))
    transfer_ms = SIZES.get(row["workload"], 1_000_000) * 8 / RATE_BIT_PER_S * 1000 * 1.04
    ttlb_ms = transfer_ms * (1 + 0.15 * loss_pct) + 4 * rtt_ms
    if row["arm"].startswith("h3"):
        ttlb_ms *= 1 + effect if f"{row['path']}/{row['workload']}" in shape.slower else 1 - effect
    return ttlb_ms * shape.factors.get(row["arm"].partition("#")[0], 1.0)


def _disturbance(time_ms: float, cost_ms: float, most_ms: float) -> dict[str, Any]:
    """The member `disturbance` of trial.json, in a study that tolerates 1 % of a trial's time."""
    known = {"time_ns": time_ms, "cost_ns": cost_ms, "most_ns": most_ms, "bound_ns": time_ms / 100}
    return {name: int(1e6 * ms) for name, ms in known.items()} | {"by": "account"}


def _void(directory: Path, shape: Shape, row: dict[str, Any]) -> None:
    """The trial.json of a void attempt, where it is known how long it would have taken."""
    if row["arm"] not in shape.repeats:
        return
    undisturbed_ms = _usual_ms(shape, row) * shape.repeats[row["arm"]]
    file = directory / "failed" / f"{row['trial_id']}-attempt{row['attempt']}" / "trial.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({
        "version": 1, "trial_id": row["trial_id"], "row": row, "status": "void",
        "disturbance": _disturbance(1.2 * undisturbed_ms, 0.2 * undisturbed_ms, 0.2 * undisturbed_ms),
    }), encoding="utf-8")  # fmt: skip


def _verified(directory: Path, shape: Shape, rng: np.random.Generator, metrics: Rows, row: dict[str, Any]) -> None:
    rtt_ms, loss_pct, _ = PATHS.get(row["path"], (20.0, 0.0, 0.0))
    size = SIZES.get(row["workload"], 1_000_000)
    ttlb_ms = _usual_ms(shape, row) * float(1 + abs(rng.normal(0, 0.01 + 0.05 * loss_pct)))
    values = {
        "ttlb_ms": (ttlb_ms, "ms", "lower"), "setup_ms": (2 * rtt_ms + 1, "ms", "lower"),
        "ttfb_ms": (3 * rtt_ms + 2, "ms", "lower"), "goodput_bit_per_s": (size * 8e3 / ttlb_ms, "bit/s", "higher"),
        "retransmitted_bytes": (size * loss_pct / 100, "bytes", "lower"),
        "first_retransmission_offset_bytes": (size / 4 if loss_pct else None, "bytes", "none"),
        "path_rtt_min_ms": (rtt_ms + 0.08, "ms", "none"),
        "path_rate_down_bit_per_s": (RATE_BIT_PER_S * 0.9997, "bit/s", "none"),
        "path_loss_up_pct": (loss_pct * rng.uniform(0.8, 1.2), "%", "none"),
        "path_loss_down_pct": (loss_pct * rng.uniform(0.8, 1.2), "%", "none"),
        "lateness_p99_us": (rng.uniform(8, 40), "us", "lower"),
        "lateness_max_us": (97_000, "us", "none"),
        "trials_at_once": (3, "", "none"),
    }  # fmt: skip
    most_pct = shape.disturbed.get(row["arm"])
    if most_pct is not None:
        values["disturbance_most_ms"] = (ttlb_ms * most_pct / 100, "ms", "none")
    for name, (value, unit, better) in values.items():
        metrics.append(
            {
                "trial_id": row["trial_id"],
                "name": name,
                "value": None if value is None else float(value),
                "unit": unit,
                "better": better,
                "note": None,
            }
        )
    share = np.linspace(0, 1, max(2, size // 2900))
    curve = {"x_ms": 3 * rtt_ms + (ttlb_ms - 3 * rtt_ms) * share**0.8, "bytes": (size * share).astype(np.int64)}
    _write(directory / "tables" / "bytes_acknowledged" / f"{row['trial_id']}.parquet", curve)
    stats = {
        "source": [f"raw/client-qlog/{row['trial_id']}.sqlog"],
        "name": ["unknown_event"],
        "severity": ["notice"],
        "count": [3],
        "advice": ["A newer dialect: nothing is lost."],
    }
    _write(directory / "tables" / "decode_stats" / f"{row['trial_id']}.parquet", stats)
    trial = directory / "trials" / row["trial_id"] / "trial.json"
    trial.parent.mkdir(parents=True)
    alpn = row["arm"][:2]
    trial.write_text(json.dumps({
        "version": 1, "trial_id": row["trial_id"], "row": row, "status": "verified",
        "proof": {"alpn": alpn, "tls_version": "1.3", "body_sha256": row["trial_id"],
                  "versions": {"curl_cffi": "0.16.0", "libcurl": "8.19.0"}},
        "host": {"kernel": "6.1.0", "cost": {"client": _cost(size, 1), "server": _cost(size, 2)}},
        "disturbance": None if most_pct is None else _disturbance(ttlb_ms, 0.0, ttlb_ms * most_pct / 100),
    }), encoding="utf-8")  # fmt: skip


def _cost(size: int, factor: int) -> dict[str, Any]:
    """As trial.json has it: one second of CPU per 10 MB; the ticks of user and system come to a little more."""
    cpu_ns = factor * size * 100
    used = {
        "cpu_ns": cpu_ns, "user_ns": cpu_ns * 9 // 10, "system_ns": cpu_ns * 3 // 10,
        "minor_faults": 40, "major_faults": 2, "voluntary_switches": size // 10_000, "involuntary_switches": 3,
    }  # fmt: skip
    return {"life": used, "transfer": used, "peak_memory_bytes": factor * 20_000_000, "most_threads": 3 * factor}


def _resolved(shape: Shape) -> dict[str, Any]:
    def direction(rtt_ms: float, loss_pct: float) -> dict[str, Any]:
        loss = {"model": "bernoulli", "probability_pct": loss_pct} if loss_pct else None
        return {"rate_bit_per_s": RATE_BIT_PER_S, "delay_ns": int(rtt_ms * 5e5), "loss": loss}

    return {
        "name": "synthetic", "seed": 1, "blocks": shape.blocks, "alpha": 0.05, "baseline": "h2", "question": "",
        "arms": [{"name": arm, "protocol": arm} for arm in ARMS] if not shape.baselines else [
            {"name": arm, "protocol": arm[:2], "server": {"name": arm.partition("-")[2]}, "baseline": baseline}
            for arm, baseline in shape.baselines.items()
        ],
        "workloads": [{"name": name, "size_bytes": SIZES.get(name, 0)} for name in shape.workloads],
        "paths": [
            {"name": name, "title": TITLES.get(name, ""), "up": one_way, "down": one_way}
            for name, one_way in ((name, direction(*PATHS[name][:2])) for name in shape.paths if name in PATHS)
        ],
    } | ({"arms_summary": shape.arms_summary} if shape.arms_summary else {}) | shape.resolved  # fmt: skip


def _write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(data, infer_schema_length=None).write_parquet(path)
