# SPDX-License-Identifier: Apache-2.0
"""A page beside a page, a video and a download, all by real programs through one bottleneck."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_study import main_only, quiclab, trials

from quiclab.lab.runner.films import find_ffmpeg

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.netns,
    pytest.mark.alone,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
    pytest.mark.skipif(find_ffmpeg() is None, reason="ffmpeg is not installed"),
]

_SPEC = """\
[study]
name = "mix"
seed = 1
blocks = 1
aa = { workload = "small", path = "plain", blocks = 1 }

[limits]
disturbance = "100 %"

[[workload]]
name = "small"
size = "1 KB"

[[workload]]
name = "site"
kind = "page"
page = { resources = [{ type = "image", size = "29 KB", count = 4 }] }
[workload.competition]
start = "1 s"
competitors = [
  { arm = "h2", workload = "site" },
  { arm = "h3", workload = "film" },
  { arm = "bulk", workload = "large" },
]

[[workload]]
name = "film"
only_for = "competition"
kind = "video"
video = { qualities = ["234p"], length = "60 s", loop = "2 s" }

[[workload]]
name = "large"
only_for = "competition"
size = "30 MB"

[[path]]
name = "plain"
rate = "10 Mbit/s"
delay = "5 ms"

[[arm]]
name = "h2"
protocol = "h2"
client = "chromium"
server = "caddy"
tcp = { congestion_control = "cubic" }

[[arm]]
name = "h3"
protocol = "h3"
client = "chromium"
server = "caddy"

[[arm]]
name = "bulk"
only_for = "competition"
protocol = "h2"
client = "curl-cffi"
server = "caddy"
tcp = { congestion_control = "cubic" }
"""


@pytest.mark.nightly
def test_pages_videos_and_downloads_share_a_link(tmp_path: Path) -> None:
    """Each flow has its throughput in steps of 100 ms, its round-trip time, its losses and its retransmissions; the
    page that competes is loaded by a browser of its own; what only competes is in no cell."""
    spec = tmp_path / "mix.toml"
    spec.write_text(_SPEC)
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [trial for trial in trials(tmp_path / "study") if trial["status"] == "verified"]
    assert {(trial["row"]["workload"], trial["row"]["arm_name"]) for trial in found} == {
        *(("site", "h2"), ("site", "h3"), ("small", "h2"), ("small", "h3"))
    }
    for trial in found:
        if trial["row"]["workload"] == "site":
            _look_at(trial, tmp_path / "study" / "tables")


def _look_at(trial: dict[str, Any], tables: Path) -> None:
    def table(name: str) -> pl.DataFrame:
        return pl.read_parquet(tables / name / f"{trial['trial_id']}.parquet")

    labels = ["measured", "h2-1", "h3-1", "bulk-1"]
    proof = trial["proof"]["competition"]
    measured = "tcp" if trial["protocol"] == "h2" else "quic"
    assert [proof[flow]["transport"] for flow in proof] == [measured, "tcp", "quic", "tcp"]
    flows = table("flows")
    assert flows["flow"].to_list() == labels
    assert flows["share_pct"].sum() == pytest.approx(100)
    for column in ("throughput_bit_per_s", "lost_packets_down", "retransmitted_bytes"):
        assert flows[column].null_count() == 0
    assert flows["rtt_mean_ms"].drop_nulls().min() >= 10
    steps = table("flow_throughput")
    assert set(steps["flow"]) == set(labels)
    assert steps.group_by("flow").len()["len"].n_unique() == 1
    values = dict(table("metrics").select("name", "value").iter_rows())
    assert 0.25 <= values["jain_index"] <= 1
    assert values["plt_ms"] > 0
    assert values["client_cpu_ms"] > 0
    competition = trial["competition"]
    # It ends when the page is there, not when its browser is gone.
    assert competition["ended_ns"] <= max(request["last_byte_ns"] for request in trial["client"]["requests"])
    loads = next(flow["loads"] for flow in competition["flows"] if flow["label"] == "h2-1")
    assert all(load["went_ns"] < load["whole_ns"] for load in loads)
