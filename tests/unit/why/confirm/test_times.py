# SPDX-License-Identifier: Apache-2.0
"""Times of a confirming run from a study's tables: exact, so that what is declared of them has one hash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from quiclab.compare.study_tables import open_study
from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.why.account import Why
from quiclab.why.confirm.times import times_of

_MECHANISMS = ("handshake_round_trips", "handshake_bytes", "time_to_answer", "request_and_last_flight", None)


def test_sums_do_not_depend_on_the_order_of_groups(tmp_path: Path) -> None:
    """Twenty trials with five parts of one reason each, whose milliseconds have no exact sum: each total is that of the
    whole nanoseconds."""
    rng = np.random.default_rng(3)
    ns = rng.integers(1, 10**9, (20, len(_MECHANISMS)))
    (tmp_path / "tables" / "account_totals").mkdir(parents=True)
    trials = []
    for block, parts in enumerate(ns.tolist()):
        trial = f"{block:016x}"
        trials.append({"trial_id": trial, "cell_id": "1MB/p", "arm": "h3", "block": block, "kind": "main"})
        trials[-1] |= {"status": "verified", "attempt": 1}
        rows = [
            {"of": "ttlb", "why": "request", "what": "server", "evidence": "ip_packets", "mechanism": name, "edges": 1}
            | {"total_ns": part, "size_bytes": 0}
            for name, part in zip(_MECHANISMS, parts, strict=True)
        ]
        file = tmp_path / "tables" / "account_totals" / f"{trial}.parquet"
        pl.DataFrame(rows, schema=TABLES["account_totals"].schema()).write_parquet(file)
    filled = [{column: row.get(column) for column in OF_STUDY["trials"].schema()} for row in trials]
    pl.DataFrame(filled, schema=OF_STUDY["trials"].schema()).write_parquet(tmp_path / "tables" / "trials.parquet")
    found = times_of(open_study(tmp_path), {"replay": ("1MB/p", "h3")}, "time_to_answer")["replay"]
    assert found.total.tolist() == (ns.sum(axis=1) / 1e6).tolist()
    assert found.cause.tolist() == (ns[:, 2] / 1e6).tolist()
    assert found.why[:, list(Why).index(Why.REQUEST)].tolist() == found.total.tolist()
