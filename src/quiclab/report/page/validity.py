# SPDX-License-Identifier: Apache-2.0
"""Can the result be trusted: what the laboratory says about itself, as tables of text."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl

from quiclab.compare.control_alarms import control_table
from quiclab.compare.damaged import damage_table, damaged_trials
from quiclab.compare.disturbance_notes import repeats_table
from quiclab.compare.first_in_block import first_in_block_table
from quiclab.compare.flags import drift_table, outlier_table
from quiclab.compare.independence import independence_table
from quiclab.compare.metric_values import by_path_and_arm, middle, worst
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.occasion_table import occasion_tables
from quiclab.compare.refused_packets import refusal_table
from quiclab.compare.study import DECODE_STATS, Study, read_json, read_record, read_table
from quiclab.model import number_text
from quiclab.model.text_table import TextTable
from quiclab.report.figures.path import Path, path_rows
from quiclab.report.page.record_words import facts_of, of_its_transport
from quiclab.report.words.address_changes import address_change_tables
from quiclab.store.layout import BLOCK_CUT, BLOCK_VOID, DAMAGED

_STATUSES = ("verified", "failed", "unproven", "void", DAMAGED)
_MOST_REASONS = 5
_WITH_ITS_BLOCK = {
    BLOCK_VOID: "run again, as another trial of its block was void",
    BLOCK_CUT: "run again, as its block was cut short",
}


def trust_tables(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Return the tables of the section, in the order of the page."""
    return [
        control_table(analysis),
        independence_table(analysis),
        first_in_block_table(study, analysis),
        *occasion_tables(study, analysis),
        _counts(study),
        repeats_table(analysis),
        *([damage_table(study)] if damaged_trials(study).height else []),
        *address_change_tables(study),
        drift_table(study, analysis),
        outlier_table(study, analysis),
        _lateness(study, analysis),
        refusal_table(study, analysis),
        _paths(study, analysis),
        _decode_stats(study),
        _proofs(study),
        _host(study),
    ]


def _counts(study: Study) -> TextTable:
    rows = []
    for (kind, arm), attempts in study.trials.group_by("kind", "arm", maintain_order=True):
        count = Counter(attempts["status"].to_list())
        told = _reasons(attempts.filter(pl.col("status") != "verified")["reason"].to_list())
        rows.append((str(arm), str(kind), *(str(count[s]) for s in _STATUSES), told))
    return TextTable(
        "Trials",
        "Failed: an endpoint's fault, ranks worst. Unproven: neither packets nor an account of the client show what it "
        "got, so the trial is left out. Void: the laboratory's fault, run again with its block. Damaged: "
        "verified, but files were lost since.",
        ("arm", "kind", *_STATUSES, "reasons"),
        tuple(sorted(rows, key=lambda row: (row[1] != "main", row[0]))),
        "No trial is on record.",
    )


def _reasons(told: list[str | None]) -> str:
    """The commonest reasons with their counts; those that differ in their numbers alone are one, with an example."""
    kinds: dict[str, list[str]] = {}
    for reason in told:
        words = _WITH_ITS_BLOCK.get(reason or "", reason or "no reason given")
        kinds.setdefault(re.sub(r"\d+(\.\d+)?", "", words), []).append(words)
    commonest = sorted(kinds.values(), key=len, reverse=True)[:_MOST_REASONS]
    return "; ".join(
        f"{len(each)} × {'such as ' if len(set(each)) > 1 else ''}{max(each, key=each.count)}" for each in commonest
    )


def _lateness(study: Study, analysis: StudyAnalysis) -> TextTable:
    latest = {(path, arm): worst(values) for path, arm, values in by_path_and_arm(study, "lateness_max_us")}
    at_once = {(path, arm): _at_once(values) for path, arm, values in by_path_and_arm(study, "trials_at_once")}
    rows = [
        (
            analysis.path_titles.get(path, path),
            arm,
            *(f"{number_text.number(v)} µs" for v in (middle(values), worst(values))),
            f"{number_text.number(latest[path, arm])} µs" if (path, arm) in latest else "–",
            at_once.get((path, arm), "–"),
        )
        for path, arm, values in by_path_and_arm(study, "lateness_p99_us")
    ]
    return TextTable(
        "Lateness of the emulated link",
        "How late the slowest 1 % of packets left the link, measured against the instant that the model gave them, and "
        "the latest packet of all. The latter voids no trial: a short stop among many packets shows only there. Last, "
        "the most trials that ran side by side: the first of each arm ran alone, and short ones often do.",
        ("network", "arm", "median trial", "worst trial", "latest packet", "trials at a time"),
        tuple(rows),
        "No lateness was measured.",
    )


def _at_once(values: pl.Series) -> str:
    """How many trials ran beside each other: `1`, or such as `3 (2 in the median trial)`."""
    most, median = round(worst(values)), middle(values)
    return number_text.count(most) if most == median else f"{number_text.count(most)} ({median:g} in the median trial)"


def _paths(study: Study, analysis: StudyAnalysis) -> TextTable:
    table = path_rows(study, analysis)
    return TextTable(
        "The path as asked and as measured",
        "Means over the verified trials, from the link's packet log; round trips count the queue in. A transfer that "
        "ends early cannot fill the rate.",
        Path.headings,
        tuple(table.select(*Path.columns).rows()),
        "The path was not measured.",
        "path.csv",
    )


def _decode_stats(study: Study) -> TextTable:
    files = sorted((study.directory / "tables" / "decode_stats").glob("*.parquet"))
    frames = [read_table(path, DECODE_STATS, []).with_columns(pl.lit(path.stem).alias("trial")) for path in files]
    note = f"Lines that were wrong or not understood, in the logs of {number_text.counted(len(files), 'trial')}."
    rows: list[tuple[str, ...]] = []
    if frames:
        severe = pl.Enum(["error", "data_loss", "notice"])
        stats = (
            pl.concat(frames)
            .filter(pl.col("count") > 0)
            .with_columns(pl.col("source").str.replace_all("[0-9a-f]{8,}", "*"))  # logs named after a connection
            .group_by("severity", "source", "name", "advice")
            .agg(pl.col("count").sum(), pl.col("trial").n_unique().alias("trials"))
            .sort(pl.col("severity").cast(severe, strict=False), "source", "name", nulls_last=True)
        )
        harmless = pl.col("severity") == "info"
        columns = ("severity", "source", "name", "count", "trials", "advice")
        rows = [
            tuple("" if v is None else str(v) for v in row) for row in stats.filter(~harmless).select(columns).rows()
        ]
        left_out = int(stats.filter(harmless)["count"].sum())
        note += f" {number_text.count(left_out)} harmless ones (severity info) are not listed."
    return TextTable(
        "What the decoders reported",
        note,
        ("severity", "file", "what", "count", "trials", "advice"),
        tuple(rows),
        f"Nothing unusual. {note}" if frames else "There are no decode statistics.",
    )


def _proofs(study: Study) -> TextTable:
    """What the trials of each arm proved to have run: facts that hold in every one of them."""
    by_arm: dict[str, dict[str, list[str]]] = {str(arm["name"]): {} for arm in study.items("arms")}
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    for arm, trial_id in verified.select("arm", "trial_id").rows():
        record = read_record(study.directory / "trials" / trial_id)
        for key, value in facts_of(of_its_transport(record)):
            by_arm.setdefault(arm, {}).setdefault(key, []).append(value)
    by_arm = {arm: told for arm, told in by_arm.items() if told}
    keys = dict.fromkeys(key for facts in by_arm.values() for key in facts)
    rows = [
        (key, *(by_arm[arm].get(key, ["–"])[0] for arm in by_arm))
        for key in keys
        if all(len(set(facts.get(key, ()))) <= 1 for facts in by_arm.values())
    ]
    return TextTable(
        "What ran",
        "Negotiated and in force, as every trial of the arm proved it; what changes from trial to trial is left out. "
        "–: the arm has no such thing. docs/explanation/proof.md has the meaning of each fact.",
        ("", *by_arm),
        tuple(rows),
        "There is no trial.json.",
    )


def _host(study: Study) -> TextTable:
    facts = tuple(facts_of(read_json(study.directory / "host.json", [])))
    return TextTable("The machine", "", ("", ""), facts, "host.json is missing.")
