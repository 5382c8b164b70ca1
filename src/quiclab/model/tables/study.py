# SPDX-License-Identifier: Apache-2.0
"""The two tables of a whole study, by which the tables of its trials are chosen, joined and compared."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables._api import NEVER, Column, Table


def _text(name: str, null: str, doc: str) -> Column:
    return Column(name, pl.String, "", null, doc)


_TRIAL = _text("trial_id", NEVER, "Id of the trial, the same in all tables.")

ATTEMPTS = Table(
    "trials",
    "One attempt at one trial of the study: `tables/trials.parquet`. A trial whose attempt was void has a later one.",
    (
        _TRIAL,
        _text("kind", NEVER, "`main`, or `aa` where an arm is compared with itself."),
        _text("cell_id", NEVER, "The cell: `WORKLOAD/PATH`, with `/aa-ARM` behind it in A/A cells."),
        _text("workload", NEVER, "What is transferred."),
        _text("path", NEVER, "Path that it is transferred over."),
        _text("arm", NEVER, "What is compared; in A/A cells `ARM#1` or `ARM#2`."),
        _text("baseline_arm", NEVER, "The arm that its differences are relative to: itself of a baseline."),
        Column("block", pl.Int64, "", NEVER, "Number of the block within its cell, whose trials are compared."),
        Column("position", pl.Int64, "", NEVER, "Place in the order of the plan."),
        Column("attempt", pl.Int64, "", NEVER, "Counts from 1."),
        _text("seed", NEVER, "The block's seed, a number of 64 bits."),
        _text("status", NEVER, "`verified`, `failed` (the worst result); no result: `unproven`, `void`, `damaged`."),
        _text("reason", NEVER, "Why it is not verified, or what a damaged one lacks; empty where it is verified."),
        _text("began_utc", "not told", "Date and time of its start."),
        Column(
            "occasion",
            pl.Int64,
            "",
            "not told",
            "Counts from 1: trials of one boot of one machine, without a pause of an hour or more between them.",
        ),
        _text("logs_left_out", "kept", "Rule by which its raw files were not kept (`quiclab run --keep-raw`)."),
    ),
)

METRICS = Table(
    "metrics",
    "One metric of one verified trial: `metrics.parquet`. `metrics.md` has what each means.",
    (
        _TRIAL,
        _text("name", NEVER, "The metric."),
        Column("value", pl.Float64, "", "unknown", "Its value, in the unit that the row names."),
        _text("unit", NEVER, "The unit of `value`; empty of counts."),
        _text("better", NEVER, "The better direction: `lower`, `higher` or `none`."),
        _text("note", "nothing to say", "Reason why the value is unknown, or something to know about it."),
    ),
)
