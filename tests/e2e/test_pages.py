# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser, from real servers, over the emulated link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_study import quiclab, trials
from stack_study import need, spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PAGE = """kind = "page"
page = {{ {} }}"""
_MADE = """html = "4 KB", resources = [{type = "style", size = "5 KB"}, {type = "script", size = "3 KB"},
  {type = "image", size = "60 KB", main = true}, {type = "image", size = "9 KB", format = "jpeg", count = 6,
  third_party = "50 %"}, {type = "data", size = "2 KB"}], others_protocol = "h1" """
_ARMS = {
    f"{server}-{protocol}": f'protocol = "{protocol}"\nclient = "chromium"\nserver = "{server}"'
    for server, protocol in (("caddy", "h2"), ("nginx", "h3"))
}


def _run(folder: Path, page: str, limit: str = "30 s") -> tuple[Path, dict[str, dict[str, Any]]]:
    need(("client", "chromium"), ("server", "nginx"))
    spec = folder / "spec.toml"
    text = spec_text(_ARMS, None, workload=_PAGE.format(page.replace("\n", " ")))
    aa = '[study]\naa = { workload = "object", path = "quiet", blocks = 1 }'
    spec.write_text(text.replace("[study]", aa).replace('trial = "30 s"', f'trial = "{limit}"'))
    done = quiclab("run", spec, "--out", folder / "study", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    kept = [trial for trial in trials(folder / "study") if trial["row"]["kind"] == "main"]
    return folder / "study", {trial["row"]["arm"]: trial for trial in kept if trial["status"] != "void"}


def test_a_page_of_two_hosts(tmp_path: Path) -> None:
    """Everything comes to the byte, each host by its own protocol; the browser's own moments become metrics."""
    study, found = _run(tmp_path, _MADE)
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        requests = trial["client"]["requests"]
        assert len(requests) == 11
        assert sum(request["body_bytes"] for request in requests) == 4_000 + 5_000 + 3_000 + 60_000 + 6 * 9_000 + 2_000
        versions = {request["url"].split("/")[2]: request["http_version"] for request in requests}
        own = "HTTP/3" if trial["protocol"] == "h3" else "HTTP/2"
        assert versions == {"server.test": own, "third-1.test": "HTTP/1.1"}
        raw = next(study.glob(f"*/{trial['trial_id']}/raw"), None) or next(study.glob(f"*/{trial['trial_id']}*/raw"))
        assert (raw / "client-page.jpg").stat().st_size > 1000
        metrics = pl.read_parquet(study / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
        value = dict(metrics.select("name", "value").iter_rows())
        assert value["page_requests"] == 11
        assert 0 < value["fcp_ms"] <= value["last_visual_change_ms"]
        assert 0 < value["main_image_start_ms"] < value["main_image_end_ms"] <= value["plt_ms"]
        assert 0 < value["speed_index_ms"] <= value["last_visual_change_ms"]
        assert value["critical_path_requests"] >= 2
        assert value["page_bytes_h3_pct"] == (0 if own == "HTTP/2" else pytest.approx(100 * 101 / 128, abs=0.1))


def test_a_mirrored_page_that_lacks_files_and_reaches_out(tmp_path: Path) -> None:
    """The load goes on; files of the machine and hosts outside stay out of reach."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(
        "<!doctype html><title>t</title><p>text<img src=/gone.png><img src=file:///etc/passwd>"
        "<img src=https://outside.example/x.png><iframe src=https://203.0.113.9/></iframe>"
    )
    study, found = _run(tmp_path, 'folder = "site"')
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        statuses = {request["url"]: request["status"] for request in trial["client"]["requests"]}
        assert statuses["https://server.test/gone.png"] == 404
        assert statuses.get("https://outside.example/x.png") is None
        outside = [each for each in trial["client"]["requests"] if "server.test" not in each["url"]]
        assert not any(each["decoded_bytes"] or each["first_byte_ns"] for each in outside), outside
        metrics = pl.read_parquet(study / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
        assert metrics.filter(pl.col("name") == "page_failed_requests")["value"][0] >= 2
        packets = pl.read_parquet(study / "tables" / "ip_packets" / f"{trial['trial_id']}.parquet")
        assert set(packets["dst"].drop_nulls()) <= {"10.77.0.1", "10.77.0.2"}


def test_a_page_that_never_fires_load_ends_by_its_limit(tmp_path: Path) -> None:
    """With the reason, and with its logs."""
    study, found = _run(tmp_path, 'resources = [{type = "image", size = "2 MB", count = 20}]', limit="3 s")
    for trial in found.values():
        assert trial["status"] == "failed"
        assert "load event did not fire within 3 s (limits.trial)" in trial["reason"], trial["reason"]
    assert list(study.rglob("client-trace.json"))
