# SPDX-License-Identifier: Apache-2.0
"""A browser that opens a second connection: what the account of its video is of, and what the first one cost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from unit.why.account.stories import Tcp, sums
from unit.why.account.videos import fetch_rows, one_file

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.why.account import accounts_of


def _first_is_anothers(evidence: Evidence, *, ready: bool = False) -> Evidence:
    """The first packet of the client is of another port; `ready` makes it carry application data."""
    first = pl.col("time_ns") == evidence.zero_ns
    packets = evidence.table("ip_packets").with_columns(
        pl.when(first).then(50_000).otherwise("src_port").cast(pl.UInt16).alias("src_port"),
        pl.when(first).then(pl.lit(ready)).otherwise("tls_application_data").alias("tls_application_data"),
    )
    return Evidence({**evidence.tables, "ip_packets": packets}, evidence.trial)


def test_a_second_connection_waits_for_the_first(tmp_path: Path) -> None:
    """The SYN at 0 is lost; that of 250 opens another connection, over which all goes on."""
    evidence = one_file(tmp_path, Tcp(syn_at=(0, 250), syn_ack_at=(260,)), video={"decode": False})
    again, another = (accounts_of(each)["start_up"] for each in (evidence, _first_is_anothers(evidence)))
    assert sums(again) == sums(another)
    assert sums(another)["set_up_loss"] == 250
    assert sums(another)["player"] == 5 + 2


def test_a_connection_beside_one_that_is_ready_is_the_browsers_choice(tmp_path: Path) -> None:
    """Nothing was lost."""
    evidence = one_file(tmp_path, Tcp(syn_at=(0, 250), syn_ack_at=(260,)), video={"decode": False})
    found = sums(accounts_of(_first_is_anothers(evidence, ready=True))["start_up"])
    assert "set_up_loss" not in found
    assert found["player"] == 5 + 250 + 2


def test_requests_over_two_connections_are_refused(tmp_path: Path) -> None:
    """No record tells which of them the player waited for."""
    other, *_ = fetch_rows("video.mp4", 3, 60, 70, 80)
    evidence = one_file(tmp_path, Tcp(syn_at=(0, 250), syn_ack_at=(260,)), video={"decode": False})
    rows = evidence.table("http_requests")
    more = pl.DataFrame([{name: other.get(name) for name in rows.columns}], schema=rows.schema)
    more = more.with_columns(pl.lit("10.77.0.1:50000-10.77.0.2:443").alias("connection"))
    both = Evidence({**evidence.tables, "http_requests": pl.concat([rows, more])}, evidence.trial)
    with pytest.raises(Unknown, match="the player's requests went over 2 connections"):
        accounts_of(_first_is_anothers(both))
