# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is among the responses of a page, as its bytes arrive."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from small_study import quiclab, trials
from stack_study import need, spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PAGE = 'kind = "page"\npage = { html = "4 KB", resources = [{type = "image", size = "300 KB", count = 4}] }'
_ARMS = {
    f"{protocol}-{scheduler}": f'protocol = "{protocol}"\nclient = "chromium"\n'
    f'server = {{ name = "quic-go", scheduler = "{scheduler}", priorities = false }}'
    for protocol, scheduler in (("h2", "fifo"), ("h3", "round_robin"))
}


def test_images_come_one_after_the_other_or_side_by_side(tmp_path: Path) -> None:
    """As the server was told, by the frames that reached the browser."""
    need(("client", "chromium"), ("server", "quic-go"))
    spec = tmp_path / "spec.toml"
    more = '[study]\ncaptures = "whole"\naa = { workload = "object", path = "quiet", blocks = 1 }'
    spec.write_text(spec_text(_ARMS, None, workload=_PAGE).replace("[study]", more))
    done = quiclab("run", spec, "--out", tmp_path / "study", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = {}
    for trial in trials(tmp_path / "study"):
        if trial["row"]["kind"] == "main" and trial["status"] != "void":
            assert trial["status"] == "verified", trial["reason"]
            metrics = pl.read_parquet(tmp_path / "study" / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
            found[trial["row"]["arm"]] = dict(metrics.select("name", "value").iter_rows())["interleaved_pct"]
    assert found["h2-fifo"] < 30
    assert found["h3-round_robin"] > 60
