# SPDX-License-Identifier: Apache-2.0
"""Can the result be trusted: what the laboratory says about itself, as tables of text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from quiclab.report import wording
from quiclab.report.model import StudyAnalysis
from quiclab.report.path_asked import MEASURED, asked
from quiclab.report.study import DECODE_STATS, Study, read_json, read_table


@dataclass(frozen=True)
class TextTable:
    """A small table of text; without rows, `empty` says why."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str


def trust_tables(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """All of them, in the order of the page."""
    return [
        _controls(analysis),
        _counts(study),
        _lateness(study, analysis),
        _paths(study, analysis),
        _decode_stats(study),
        _proofs(study),
        _host(study),
    ]


def _controls(analysis: StudyAnalysis) -> TextTable:
    rows = tuple(
        (
            c.baseline.arm.partition("#")[0],
            wording.place(c, analysis),
            wording.percent(c.difference_pct),
            wording.interval_text(c.interval_pct),
            wording.p_text(c.p),
            str(c.pairs),
        )
        for c in analysis.controls
    )
    return TextTable(
        "Each arm against itself (A/A)",
        "What this laboratory calls a difference where there is none. Differences of this size mean nothing.",
        ("arm", "cell", "difference", "interval, %", "p", "pairs"),
        rows,
        "No A/A cell was run: the noise floor is unknown.",
    )


def _counts(study: Study) -> TextTable:
    rows = []
    for (kind, arm), attempts in study.trials.group_by("kind", "arm", maintain_order=True):
        count = Counter(attempts["status"].to_list())
        reasons = Counter(r or "no reason given" for r in attempts.filter(pl.col("status") != "verified")["reason"])
        told = "; ".join(f"{reason} ({n})" for reason, n in reasons.most_common(5))
        rows.append((str(arm), str(kind), *(str(count[s]) for s in ("verified", "failed", "void")), told))
    return TextTable(
        "Trials",
        "Failed: an endpoint's fault, ranks worst. Void: the laboratory's fault, run again with its block.",
        ("arm", "kind", "verified", "failed", "void", "reasons"),
        tuple(sorted(rows, key=lambda row: (row[1] != "main", row[0]))),
        "No trial is on record.",
    )


def _lateness(study: Study, analysis: StudyAnalysis) -> TextTable:
    rows = [
        (
            analysis.path_titles.get(path, path),
            arm,
            *(f"{wording.number(v)} µs" for v in (_median(values), _worst(values))),
        )
        for path, arm, values in _by_path_and_arm(study, "lateness_p99_us")
    ]
    return TextTable(
        "Lateness of the emulated link",
        "How late the slowest 1 % of packets left the link, against the instant the model gave them.",
        ("network", "arm", "median trial", "worst trial"),
        tuple(rows),
        "No lateness was measured.",
    )


def _paths(study: Study, analysis: StudyAnalysis) -> TextTable:
    wanted = {item["name"]: asked(item) for item in study.items("paths")}
    found: dict[tuple[str, str], dict[str, str]] = {}
    for metric, (unit, _) in MEASURED.items():
        for path, arm, values in _by_path_and_arm(study, metric):
            found.setdefault((path, arm), {})[metric] = wording.quantity(_mean(values), unit)
    rows = []
    for path in dict.fromkeys(path for path, _ in found):
        title = analysis.path_titles.get(path, path)
        rows.append((title, "as asked", *(wanted.get(path, {}).get(metric, "–") for metric in MEASURED)))
        rows += [(title, arm, *(here.get(m, "–") for m in MEASURED)) for (p, arm), here in found.items() if p == path]
    return TextTable(
        "The path as asked and as measured",
        "Means over the verified trials, from the link's packet log. A transfer that ends early cannot fill the rate.",
        ("network", "", *(heading for _, heading in MEASURED.values())),
        tuple(rows),
        "The path was not measured.",
    )


def _decode_stats(study: Study) -> TextTable:
    files = sorted((study.directory / "tables" / "decode_stats").glob("*.parquet"))
    frames = [read_table(path, DECODE_STATS, []) for path in files]
    rows: tuple[tuple[str, ...], ...] = ()
    if frames:
        severe = pl.Enum(["error", "data_loss", "notice", "info"])
        stats = (
            pl.concat(frames)
            .filter(pl.col("count") > 0)
            .group_by("source", "name", "severity", "advice")
            .agg(pl.col("count").sum(), pl.len().alias("trials"))
            .sort(pl.col("severity").cast(severe, strict=False), "source", "name", nulls_last=True)
        )
        rows = tuple(
            tuple(str(v if v is not None else "") for v in row)
            for row in stats.select("severity", "source", "name", "count", "trials", "advice").rows()
        )
    return TextTable(
        "What the decoders met",
        f"Lines that were not understood or were wrong, over {len(files)} trials.",
        ("severity", "file", "what", "count", "trials", "advice"),
        rows,
        "The decoders reported nothing unusual." if frames else "No decode statistics are there.",
    )


def _proofs(study: Study) -> TextTable:
    """What the trials of each arm proved to have run: facts that hold in every one of them."""
    by_arm: dict[str, dict[str, set[str]]] = {}
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    for arm, trial_id in verified.select("arm", "trial_id").rows():
        record = read_json(study.directory / "trials" / trial_id / "trial.json", [])
        client = record.get("client")
        told = {"proof": record.get("proof"), "versions": client.get("versions") if isinstance(client, dict) else None}
        for key, value in _flat(told):
            by_arm.setdefault(arm, {}).setdefault(key.removeprefix("proof."), set()).add(value)
    keys = dict.fromkeys(key for facts in by_arm.values() for key in facts)
    rows = [(key, *(" or ".join(sorted(by_arm[arm].get(key, {"–"}))) for arm in by_arm)) for key in keys
            if all(len(facts.get(key, ())) <= 2 for facts in by_arm.values())]  # fmt: skip
    return TextTable(
        "What ran",
        "Negotiated and in force, as each trial proved it; what changes from trial to trial is left out.",
        ("", *by_arm),
        tuple(rows),
        "No trial.json is there.",
    )


def _host(study: Study) -> TextTable:
    facts = tuple(_flat(read_json(study.directory / "host.json", [])))
    return TextTable("The machine", "", ("", ""), facts, "host.json is missing.")


def _by_path_and_arm(study: Study, metric: str) -> Iterator[tuple[str, str, pl.Series]]:
    """Known values of a metric in verified main trials."""
    values = study.metrics.filter((pl.col("name") == metric) & pl.col("value").is_finite()).unique("trial_id")
    rows = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main")).join(
        values, on="trial_id"
    )
    order = study.order("paths", set(rows["path"].to_list()))
    groups = {(str(path), str(arm)): group["value"] for (path, arm), group in rows.group_by("path", "arm")}
    for path, arm in sorted(groups, key=lambda key: (order.index(key[0]), key[1])):
        yield path, arm, groups[path, arm]


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested JSON as (dotted key, text); long and empty values are left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    elif value not in (None, "", []):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) <= 100:
            yield prefix, text


def _median(values: pl.Series) -> float:
    return float(values.cast(pl.Float64).median() or 0.0)  # type: ignore[arg-type]


def _mean(values: pl.Series) -> float:
    return float(values.cast(pl.Float64).mean() or 0.0)  # type: ignore[arg-type]


def _worst(values: pl.Series) -> float:
    return float(values.cast(pl.Float64).max() or 0.0)  # type: ignore[arg-type]
