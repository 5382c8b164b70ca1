# SPDX-License-Identifier: Apache-2.0
"""Uploads that a proxy passes on over a link of its own: what is kept, proven, and accounted for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from accounts import account_of, sums_ms
from small_study import main_only, quiclab, trials
from stack_study import need, spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_BYTES = 400_000
_LINKS = """\
[[path.link]]
name = "access"
rate = "40 Mbit/s"
delay = "2 ms"

[[path.link]]
name = "core"
rate = "8 Mbit/s"
delay = "5 ms"
"""
_BEHIND_MS = _BYTES * 8 / 8e3
_ARM = """\
protocol = "{}"
client = "curl"
proxy = "{}"
proxy_at = "access"
server = "nginx"
origin_protocol = "h1"
"""


@pytest.mark.nightly
def test_time_behind_the_proxy_is_the_origins_or_the_answers(tmp_path: Path) -> None:
    """The link behind is five times as slow. nginx reads no further than it can send on, so that its credit waits for
    that; HAProxy and the kernel take all, and the answer waits. On a busy machine a client may be without a
    processor meanwhile."""
    need(("client", "curl"), ("proxy", "nginx"), ("proxy", "haproxy"), ("server", "nginx"))
    arms = {
        f"{proxy}-{protocol}": _ARM.format(protocol, proxy)
        for proxy in ("nginx", "haproxy")
        for protocol in ("h2", "h3")
    }
    spec = tmp_path / "spec.toml"
    text = spec_text(arms, f"{_BYTES} B", path=_LINKS, workload='direction = "upload"')
    spec.write_text(text.replace('rate = "50 Mbit/s"\ndelay = "10 ms"\n', "", 1))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for trial in trials(tmp_path / "study"):
        if trial["status"] == "void":
            continue
        assert trial["proof"]["origin_leg"]["bytes_to_origin"] >= _BYTES
        account = account_of(tmp_path / "study", trial)
        behind = account.filter(pl.col("link") == "raw/link-2.qplog")
        assert set(behind["why"].unique()) <= {"origin", "answer"}
        served, why = sums_ms(behind, "what")["served"], sums_ms(account, "why")
        assert served + why.get("processor", 0) + why["link_busy"] > 0.6 * _BEHIND_MS, trial["row"]["arm"]
        assert served > 0.2 * _BEHIND_MS, trial["row"]["arm"]
        assert "unexplained" not in why
