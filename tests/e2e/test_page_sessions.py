# SPDX-License-Identifier: Apache-2.0
"""A page in a browser that has been there before."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from small_study import quiclab, trials
from stack_study import need, spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PAGE = 'kind = "page"\npage = { html = "4 KB", resources = [{type = "image", size = "20 KB", count = 3}] }'
_ARMS = {
    "fresh": 'protocol = "h3"\nclient = {name = "chromium", session = "fresh"}\nserver = "caddy"',
    "zero": 'protocol = "h3"\nclient = {name = "chromium", session = "early_data"}\nserver = "caddy"',
}


def test_a_browser_sends_its_first_request_in_0rtt_packets(tmp_path: Path) -> None:
    """Proven by the packets, which hold nothing of the visit before; the browser that must not know the server resumes
    nothing."""
    need(("client", "chromium"), ("server", "caddy"))
    spec = tmp_path / "spec.toml"
    aa = '[study]\naa = { workload = "object", path = "quiet", blocks = 1 }'
    spec.write_text(spec_text(_ARMS, None, workload=_PAGE).replace("[study]", aa))
    done = quiclab("run", spec, "--out", tmp_path / "study", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    kept = [each for each in trials(tmp_path / "study") if each["row"]["kind"] == "main" and each["status"] != "void"]
    assert {each["row"]["arm"] for each in kept} == {"fresh", "zero"}
    for trial in kept:
        assert trial["status"] == "verified", trial["reason"]
        zero = trial["row"]["arm"] == "zero"
        assert trial["proof"]["resumed"] is zero
        assert trial["proof"]["early_data"] == ("accepted" if zero else "not_offered")
        assert (trial["proof"]["early_data_bytes"] > 0) is zero
        folder = next((tmp_path / "study").glob(f"*/{trial['trial_id']}*/raw"))
        logs = folder / "first-visit-netlog.json", folder / "client-qlog" / "client-netlog.json"
        states = [text.count("AttemptedAndSucceeded") for text in (log.read_text() for log in logs)]
        assert states == [0, int(zero)]
        metrics = pl.read_parquet(tmp_path / "study" / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
        value = dict(metrics.select("name", "value").iter_rows())
        assert (value["connections_early_data_accepted"], value["connections_full"]) == ((1, 0) if zero else (0, 1))
        assert value["page_requests"] == 4
        assert json.loads((folder / "client.json").read_text())["page"]["load_fired"]
