# SPDX-License-Identifier: Apache-2.0
"""An arm over HTTP/1.1 beside one over HTTP/2, with real programs over the emulated link."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def test_http_1_is_verified_measured_and_accounted(tmp_path: Path) -> None:
    """By two clients, from two servers: negotiated, told by both programs, and with every millisecond in a category."""
    pairs = (("curl", "nginx"), ("wget2", "caddy"))
    for client, server in pairs:
        need(("client", client), ("server", server))
    arms = {
        f"{client}-{protocol}": f'protocol = "{protocol}"\nclient = "{client}"\nserver = "{server}"'
        for client, server in pairs
        for protocol in ("h1", "h2")
    }
    kept = run_arms(tmp_path, arms, "300 KB")
    assert set(kept) == set(arms)
    for arm, trial in kept.items():
        assert trial["status"] == "verified", trial["reason"]
        # wget2 offers no protocol where it is to speak HTTP/1.1.
        alpn = {"curl-h1": "http/1.1", "wget2-h1": "unproven"}.get(arm, "h2")
        assert trial["proof"]["alpn"] == alpn
        asked, metrics, totals = (
            pl.read_parquet(tmp_path / "study" / "tables" / name / f"{trial['trial_id']}.parquet")
            for name in ("http_requests", "metrics", "account_totals")
        )
        assert set(asked["http_version"]) == {{"h1": "HTTP/1.1", "h2": "HTTP/2"}[trial["protocol"]]}
        values = dict(metrics.select("name", "value").iter_rows())
        accounted = totals.filter(pl.col("of") == "ttlb")
        assert accounted["total_ns"].sum() == pytest.approx(values["ttlb_ms"] * 1e6, abs=1)
        unexplained = accounted.filter(pl.col("what") == "unexplained")["total_ns"].sum()
        assert unexplained < 0.02 * accounted["total_ns"].sum()
