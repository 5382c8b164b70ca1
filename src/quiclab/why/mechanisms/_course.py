# SPDX-License-Identifier: Apache-2.0
"""The course of packets over the links between the client and its front: where each was lost, and what each is there.

Every link counts its packets apart. Packets of one flow and size keep their order at a node between two links.
"""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import Direction
from quiclab.model.tables.drop_reasons import CORRUPTED


def logs(evidence: Evidence) -> list[str]:
    """Logs of the links between the client and its front, from the client on; none where the trial names no link."""
    return evidence.trial.logs_of_client_links


@lru_cache(maxsize=2)
def client_rows(evidence: Evidence, direction: Direction) -> pl.DataFrame:
    """Rows of link_packets of one direction of these links, and of the client's second network, by arrival."""
    rows = evidence.table("link_packets").filter(pl.col("direction") == direction, pl.col("action") != "outside_model")
    known = logs(evidence)
    if known and evidence.second_link is not None:
        known.append(evidence.second_link.log)
    return (rows.filter(pl.col("source").is_in(known)) if known else rows).sort("arrival_ns", "index")


def at_sender(evidence: Evidence, direction: Direction) -> pl.DataFrame:
    """Rows of the first of these links in a direction, without the copies that it made."""
    rows, known = client_rows(evidence, direction), logs(evidence)
    rows = rows.filter(~pl.col("duplicate"))
    return rows if not known else rows.filter(pl.col("source") == (known[-1] if direction == "down" else known[0]))


def course(evidence: Evidence, direction: Direction) -> pl.DataFrame:
    """Packets of the first link (`index`), why they were lost (`reason`, "" where they were not), and what the last
    link calls them (`last`, null where that is not known)."""
    rows, known = client_rows(evidence, direction), logs(evidence)
    onward = known[::-1] if direction == "down" else known
    found = _with_fates(at_sender(evidence, direction)).with_columns(pl.col("index").alias("last"))
    if len(onward) < 2 or evidence.second_link is not None:
        return found.select("index", "reason", "last")
    copies = bool(rows["duplicate"].any())
    for log in onward[1:]:
        here = _with_fates(rows.filter(pl.col("source") == log)).sort("arrival_ns", "index")
        there = found.filter(pl.col("reason") == "").sort("written_ns", "index")
        pairs = _ranked(there).join(_ranked(here), on=("flow", "size_bytes", "rank"), suffix="_next")
        pairs = pairs.select("index", "reason_next", "written_ns_next", pl.col("index_next").alias("next"))
        found = found.join(pairs.clear() if copies else pairs, on="index", how="left").with_columns(
            pl.when(pl.col("reason") == "")
            .then(pl.col("reason_next").fill_null(""))
            .otherwise("reason")
            .alias("reason"),
            pl.col("written_ns_next").alias("written_ns"),
            pl.col("next").alias("last"),
        )
        found = found.drop("reason_next", "written_ns_next", "next")
    return found.select("index", "reason", "last")


def _with_fates(rows: pl.DataFrame) -> pl.DataFrame:
    dropped = pl.when(pl.col("action") == "dropped").then(pl.col("reason").fill_null(""))
    return rows.select(
        "index",
        "flow",
        "size_bytes",
        "arrival_ns",
        (pl.col("due_ns") + pl.col("lateness_ns")).alias("written_ns"),
        dropped.when("corrupted").then(pl.lit(CORRUPTED)).otherwise(pl.lit("")).alias("reason"),
    )


def _ranked(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.int_range(pl.len()).over("flow", "size_bytes").alias("rank"))
