# SPDX-License-Identifier: Apache-2.0
"""Can the result be trusted: what the laboratory says about itself, as tables of text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from quiclab.compare.control_alarms import control_table
from quiclab.compare.damaged import damage_table, damaged_trials
from quiclab.compare.disturbance_notes import repeats_table
from quiclab.compare.first_in_block import first_in_block_table
from quiclab.compare.flags import drift_table, outlier_table
from quiclab.compare.metric_values import by_path_and_arm, middle, worst
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.occasion_table import occasion_tables
from quiclab.compare.pair_independence import independence_table
from quiclab.compare.refused_packets import refusal_table
from quiclab.compare.study import DECODE_STATS, Study, read_json, read_proof, read_record, read_table
from quiclab.model import number_text
from quiclab.model.text_table import TextTable
from quiclab.report.figures.path import Path, path_rows
from quiclab.report.words.address_changes import address_change_tables
from quiclab.store.layout import BLOCK_CUT, BLOCK_VOID, DAMAGED

_STATUSES = ("verified", "failed", "unproven", "invalid", "with its block", DAMAGED)
_MOST_REASONS = 5
_WITH_ITS_BLOCK = {
    BLOCK_VOID: "run again, as another trial of its block was invalid",
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
        count = Counter(_status(*each) for each in attempts.select("status", "reason").iter_rows())
        told = _reasons(attempts.filter(pl.col("status") != "verified")["reason"].to_list())
        rows.append((str(arm), str(kind), *(str(count[s]) for s in _STATUSES), told))
    return TextTable(
        "Trials",
        "Failed: an endpoint's fault, ranks worst. Unproven: neither packets nor an account of the client show what it "
        "got, so the trial is left out. Invalid: the laboratory's fault, run again. With its block: run again as "
        "another trial of its block was invalid, or the block was cut short. Damaged: verified, but files were lost "
        "since.",
        ("arm", "kind", *_STATUSES, "reasons"),
        tuple(sorted(rows, key=lambda row: (row[1] != "main", row[0]))),
        "No trial is on record.",
    )


def _status(status: str, reason: str | None) -> str:
    """Return the column in which an attempt is counted: a void one was invalid itself, or another of its block was."""
    return status if status != "void" else "with its block" if reason in _WITH_ITS_BLOCK else "invalid"


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
        "the latest packet of all. The latter makes no trial invalid: a short stop among many packets shows only "
        "there. "
        "Last, the most trials that ran side by side: the first of each arm ran alone, and short ones often do.",
        ("network", "arm", "median trial", "worst trial", "latest packet", "trials at a time"),
        tuple(rows),
        "No lateness was measured.",
    )


def _at_once(values: pl.Series) -> str:
    """Number of trials that ran beside each other: `1`, or such as `3 (2 in the median trial)`."""
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
    """Table of what the trials of each arm proved to have run: facts that hold in every one of them."""
    by_arm: dict[str, dict[str, list[str]]] = {arm: {} for arm in study.arms}
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    for arm, trial_id in verified.select("arm", "trial_id").rows():
        folder = study.directory / "trials" / trial_id
        facts = transport_facts(read_proof(folder), has_proxy=read_record(folder).proxy is not None)
        for key, value in facts_of(facts):
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


# Keys and values of JSON records in words: `net_core_rmem_max` and `4194304` are nothing to read.
LONGEST = 200
"""Characters of a value; longer ones are left out of a table of facts."""
_WHOLE: Mapping[str, str] = MappingProxyType(
    {
        "kernel": "Linux kernel",
        "machine": "architecture",
        "cpus": "processors",
        "cpu_model": "kind of processor",
        "memory_bytes": "memory",
        "tcp_available_congestion_control": "TCP congestion controls that the kernel has",
        "net_core_rmem_max": "largest receive buffer of a socket",
        "net_core_rmem_default": "usual receive buffer of a socket",
        "link_backend": "network devices of the link",
        "decrypted_by": "decrypted by",
        "early_data_bytes_by": "early data, told by",
        "alt_svc": "Alt-Svc",
        "alt_svc_use": "use of Alt-Svc",
        "http_version": "HTTP version, as the client tells",
        "http_version_seen": "HTTP version, as the packets show",
    }
)
"""Words of whole keys where those of their parts would not do."""
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        **{word: word.upper() for word in ("alpn", "ecn", "http", "ip", "quic", "tcp", "tls", "udp", "qpack", "ce")},
        "python": "Python", "pct": "", "bytes": "", "bidi": "bidirectional", "uni": "unidirectional", "id": "ID",
        "ect0": "ECT(0)", "ect1": "ECT(1)", "sha256": "SHA-256",
    }
)  # fmt: skip
_BYTES = frozenset(
    {
        "net_core_rmem_max", "net_core_rmem_default", "initial_max_data", "initial_max_stream_data_bidi_local",
        "initial_max_stream_data_bidi_remote", "initial_max_stream_data_uni", "max_udp_payload_size",
        "max_datagram_frame_size", "initial_window_size", "max_frame_size", "max_header_list_size",
        "max_field_section_size", "header_table_size", "qpack_max_table_capacity",
    }
)  # fmt: skip
"""Parts whose numbers are bytes although their names do not say so (RFC 9000, 9113, 9114 and 9204)."""
_MILLISECONDS = frozenset({"max_idle_timeout", "max_ack_delay"})
"""Parts whose numbers are milliseconds (RFC 9000 section 18.2)."""
_GIB, _MIB = 2**30, 2**20


def facts_of(record: Any) -> Iterator[tuple[str, str]]:
    """Return the leaves of nested JSON in words, each with its key's; empty and long values are left out."""
    for parts, value in _leaves(record, ()):
        told = _value(parts, value)
        if told and len(told) <= LONGEST:
            yield _key(parts), told


def transport_facts(proof: Mapping[str, object], *, has_proxy: bool) -> dict[str, object]:
    """Return the facts that a trial's proof can have: what is QUIC's is not `unproven` of an arm over TCP, nor what is
    TCP's of one over QUIC, nor the leg behind a proxy where there is none."""
    others = _OF_TRANSPORT.get(str(proof.get("transport")), ())
    alone = () if has_proxy else ("origin_leg",)
    return {key: value for key, value in proof.items() if value != "unproven" or not key.startswith((*others, *alone))}


_OF_TRANSPORT = MappingProxyType({"tcp": ("quic_", "early_data_packets"), "quic": ("tcp_",)})
"""Transport → how the keys begin that are the other one's."""


def _leaves(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*parts, str(key)))
    elif value not in (None, "", []):
        yield parts, value


def _key(parts: tuple[str, ...]) -> str:
    """Key in words: `QUIC parameters client: initial max data`."""
    if parts[:1] == ("programs",):  # by its role and name
        return " ".join(parts[1:])
    return ": ".join(_WHOLE.get(part) or _part(part) for part in parts)


def _part(part: str) -> str:
    words = (_WORDS.get(word, word) for word in part.split("_"))
    return " ".join(filter(None, words))


def _value(parts: tuple[str, ...], value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        return ", ".join(map(str, value))
    number = int(value) if isinstance(value, str) and value.isdecimal() and _is_bytes(parts) else value
    if isinstance(number, int | float):
        return _quantity(parts, number)
    if isinstance(value, str):
        return value.replace("_", " ") if re.fullmatch(r"[a-z]+(_[a-z]+)+", value) else value
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return "; ".join(", ".join(f"{key} {told}" for key, told in facts_of(item)) for item in value)
    return json.dumps(value, ensure_ascii=False)


def _quantity(parts: tuple[str, ...], number: int | float) -> str:
    if parts[-1] in _MILLISECONDS:
        return f"{number_text.count(number)} ms"
    if parts[-1].endswith("_pct"):
        return number_text.quantity(float(number), "%")
    if not _is_bytes(parts):
        return _exact(number) if isinstance(number, int) else number_text.number(number)
    if number >= _GIB and parts[-1] == "memory_bytes":
        return f"{number_text.number(number / _GIB)} GiB"
    if number >= _MIB and number % _MIB == 0:
        return f"{_exact(int(number) // _MIB)} MiB"
    return f"{_exact(int(number))} bytes"


def _exact(number: int) -> str:
    """Every digit, of numbers beyond those that a float holds too."""
    return f"{number:,}".replace(",", "\u2009")


def _is_bytes(parts: tuple[str, ...]) -> bool:
    return any("bytes" in part.split("_") for part in parts) or parts[-1] in _BYTES
