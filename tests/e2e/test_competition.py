# SPDX-License-Identifier: Apache-2.0
"""Several flows through one bottleneck, with real programs: what each got, and what becomes of one that dies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_study import main_only, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_RATE = 20_000_000
"""Of the small study's path."""


_SMALL = '[[workload]]\nname = "small"\nsize = "1 KB"\n\n[[path]]'


def _run(folder: Path, competition: str, code: int) -> list[dict[str, Any]]:
    """Trials of an H2 and of an H3 arm in the same competition. A second, small workload is for the controls."""
    spec = write_spec(folder, size=f'15 MB"\ncompetition = {competition}\ncontent = "random')
    text = spec.read_text().replace("[[path]]", _SMALL, 1).replace('workload = "object"', 'workload = "small"', 1)
    spec.write_text(text)
    done = quiclab("run", main_only(spec), "--out", folder / "study")
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    found = [trial for trial in trials(folder / "study") if trial["row"]["workload"] == "object"]
    return [trial for trial in found if trial["status"] != "void"]


@pytest.mark.nightly
def test_one_bottleneck_for_all(tmp_path: Path) -> None:
    """H3 and H2 against one H2 download and background traffic: shares, Jain's index and the queue are in the tables,
    all flows together fill the link, and the measured flow's metrics count its own packets only."""
    competition = (
        '{duration = "3 s", start_spread = "10 ms", competitors = [{arm = "h2", start = "500 ms"}], '
        'background = [{kind = "udp", rate = "1 Mbit/s"}, {kind = "short_flows", rate = "1 Mbit/s"}]}'
    )
    found = _run(tmp_path, competition, 0)
    assert {(trial["row"]["arm"], trial["status"]) for trial in found} == {("h2", "verified"), ("h3", "verified")}
    for trial in found:
        proof = trial["proof"]["competition"]
        measured = "tcp" if trial["protocol"] == "h2" else "quic"
        assert [proof[flow]["transport"] for flow in proof] == [measured, "tcp", "udp", "tcp"]
        assert [flow["server_port"] for flow in trial["competition"]["flows"]] == [443, 444, 445, 446]

        def table(name: str, trial_id: str = trial["trial_id"]) -> pl.DataFrame:
            return pl.read_parquet(tmp_path / "study" / "tables" / name / f"{trial_id}.parquet")

        flows, values = table("flows"), dict(table("metrics").select("name", "value").iter_rows())
        assert flows["flow"].to_list() == ["measured", "h2-1", "udp-1", "short_flows-1"]
        assert flows["share_pct"].sum() == pytest.approx(100)
        assert flows["goodput_bit_per_s"].is_null().to_list() == [False, False, True, False]
        shares = flows["share_pct"].drop_nulls().to_list()
        assert values["share_pct"] == shares[0]
        assert values["jain_index"] == pytest.approx(10_000 / (2 * sum(share**2 for share in shares)))
        assert flows["throughput_bit_per_s"].sum() < 1.01 * _RATE
        assert (
            values["wire_bytes_down"]
            < table("ip_packets")
            .filter(pl.col("vantage") == "server", pl.col("direction") == "down")["size_bytes"]
            .sum()
        )
        assert values["lost_packets_down"] == flows["lost_packets_down"][0]
        lost = table("link_packets").filter(pl.col("direction") == "down", pl.col("action") == "dropped").height
        assert flows["lost_packets_down"].sum() == lost
        steps = table("flow_throughput")
        assert steps.group_by("flow").len()["len"].to_list() == [30] * 4
        assert steps.filter(pl.col("flow") == "h2-1", pl.col("time_ms") <= 500)["bytes"].sum() == 0
        acknowledged = table("bytes_acknowledged")["bytes"].max()
        assert 0 < acknowledged <= proof["measured"]["payload_bytes_down"]


@pytest.mark.nightly
def test_a_competitor_that_ends_early_fails_the_trial(tmp_path: Path) -> None:
    """A competition lasts until the measured client has ended, and the other has had its one small object by then."""
    found = _run(tmp_path, '{competitors = [{arm = "h2", workload = "small"}]}', 1)
    assert len(found) == 2
    for trial in found:
        assert trial["status"] == "failed"
        assert trial["reason"].startswith("h2-1 did not compete to the end: after ")
        assert "its client ended with exit code 0" in trial["reason"]
