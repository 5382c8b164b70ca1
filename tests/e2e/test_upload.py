# SPDX-License-Identifier: Apache-2.0
"""Uploads, with real programs over the emulated link."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from small_study import main_only, quiclab, trials, write_spec
from stack_study import need, spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def test_uploads_arrive_whole_and_are_measured(tmp_path: Path) -> None:
    """By three clients over both protocols, to two servers, several objects at once; the metrics are the sender's."""
    pairs = (("quic-go", "quic-go"), ("curl-cffi", "nginx"), ("curl", "quic-go"))
    for client, server in pairs:
        need(("client", client), ("server", server))
    arms = {
        f"{client}-{protocol}": f'protocol = "{protocol}"\nclient = "{client}"\nserver = "{server}"'
        for client, server in pairs
        for protocol in ("h2", "h3")
    }
    workload = 'sizes = ["10 KB", "0 B", "300 KB"]\nconcurrency = 2\ndirection = "upload"'
    spec = tmp_path / "spec.toml"
    spec.write_text(spec_text(arms, None, workload=workload))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    kept = {trial["trial_id"]: trial for trial in trials(tmp_path / "study") if trial["status"] != "void"}
    assert {trial["row"]["arm"] for trial in kept.values()} == set(arms)
    metrics = pl.read_parquet(tmp_path / "study" / "tables" / "metrics" / "*.parquet")
    for trial_id, trial in kept.items():
        assert trial["status"] == "verified", trial["reason"]
        assert [each["body_bytes"] for _, each in sorted(trial["received"].items())] == [10_000, 0, 300_000]
        values = dict(metrics.filter(pl.col("trial_id") == trial_id).select("name", "value").iter_rows())
        # The answer takes the way back, and the bodies went the way up.
        assert values["upload_ms"] + 10 <= values["ttlb_ms"]
        assert values["goodput_bit_per_s"] == pytest.approx(310_000 * 8e3 / values["upload_ms"])
        assert values["wire_bytes_up"] > 310_000 > values["wire_bytes_down"]
        acknowledged = pl.read_parquet(tmp_path / "study" / "tables" / "bytes_acknowledged" / f"{trial_id}.parquet")
        assert acknowledged["bytes"].max() >= 310_000
        if trial["protocol"] == "h2":
            assert trial["proof"]["tcp_congestion_control"] == "cubic"
            assert trial["host"]["tcp_info"]["client.tcpinfo"]["sockets_of"] == "client"


def test_a_server_that_cannot_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """With those that can."""
    spec = write_spec(tmp_path, size='50 KB"\ndirection = "upload')
    done = quiclab("run", spec, "--out", tmp_path / "study")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the server caddy cannot keep what is sent to it: unsupported; nginx, quic-go can" in done.stderr
    assert trials(tmp_path / "study") == []
