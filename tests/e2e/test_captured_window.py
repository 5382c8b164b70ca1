# SPDX-License-Identifier: Apache-2.0
"""Waits of real senders by captures alone, against what the kernel's samples and the server's own log say of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from stack_study import need, run_arms

from quiclab.evidence.metrics import Evidence, evidence_of
from quiclab.model.cause import UNIONS, Why
from quiclab.model.tables import TABLES
from quiclab.why.account import account_table
from quiclab.why.accounts import read_record

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_SHOWN = (Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.RECEIVE_WINDOW)
_HIDDEN = {*UNIONS[Why.AWAITING_ACKS], Why.AWAITING_ACKS}


def _of_captures(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Tables without what the server says of itself."""
    shown = pl.col("source").str.contains(r"\.(pcapng|qplog)")
    found = {name: rows.filter(shown) if "source" in rows.columns else rows for name, rows in tables.items()}
    return {**found, "tcp_info": tables["tcp_info"].clear()}


def _shared(evidence: Evidence, captures: Evidence) -> Counter[tuple[Why, Why]]:
    """Nanoseconds by what captures say and what all logs say."""
    found: Counter[tuple[Why, Why]] = Counter()
    columns = ("from_ns", "until_ns", "why")
    whole = [*account_table(evidence).select(columns).iter_rows()]
    for from_ns, until_ns, why in account_table(captures).select(columns).iter_rows():
        for begin_ns, end_ns, truth in whole:
            found[Why(why), Why(truth)] += max(0, min(until_ns, end_ns) - max(from_ns, begin_ns))
    return found


def test_a_window_that_captures_show_is_the_senders(tmp_path: Path) -> None:
    """Slow start, a window after loss and a receive window: named for most of the time, and hardly ever otherwise than
    by the kernel."""
    need(("client", "curl-cffi"), ("server", "caddy"))
    arms = {"h2": 'protocol = "h2"\nserver = "caddy"\nclient = "curl-cffi"\n'}
    trials = run_arms(tmp_path, arms, size="2 MB", path='loss = "1 %"', delay="25 ms")
    trial_id = trials["h2"]["row"]["trial_id"]
    study = tmp_path / "study"
    files = {name: study / "tables" / name / f"{trial_id}.parquet" for name, table in TABLES.items() if table.from_logs}
    tables = {name: pl.read_parquet(file) if file.exists() else pl.DataFrame(schema=TABLES[name].schema())
              for name, file in files.items()}  # fmt: skip
    record = read_record(study / "trials" / trial_id)
    shared = _shared(evidence_of(tables, record), evidence_of(_of_captures(tables), record))
    named = {pair: ns for pair, ns in shared.items() if pair[0] in _SHOWN}
    right = sum(ns for (said, truth), ns in named.items() if said is truth)
    all_of_them = sum(ns for (_, truth), ns in shared.items() if truth in _HIDDEN)
    assert all_of_them > 300_000_000, shared
    assert right >= 0.95 * sum(named.values()), shared
    assert right >= 0.5 * all_of_them, shared
