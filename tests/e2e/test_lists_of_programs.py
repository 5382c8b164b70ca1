# SPDX-License-Identifier: Apache-2.0
"""A study of two real servers by a list in both arms: each protocol is compared with the other from the same server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from small_study import quiclab, trials

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

SPEC = """\
[study]
name = "servers"
seed = 5
blocks = 2
aa = { blocks = 1 }

[limits]
disturbance = "100 %"

[[workload]]
name = "100KB"
size = "100 KB"

[[path]]
name = "home"
rate = "20 Mbit/s"
rtt = "20 ms"

[[arm]]
name = "h2"
protocol = "h2"
client = "curl"
server = ["nginx", "caddy"]
tcp = { congestion_control = "cubic" }

[[arm]]
name = "h3"
protocol = "h3"
client = "curl"
server = ["caddy", { name = "nginx", gso = true }]
"""


def test_each_server_has_a_comparison_of_its_own(tmp_path: Path) -> None:
    """All arms share blocks and seeds; every trial ran the server that its name says, and the report draws both."""
    study = tmp_path / "study"
    (tmp_path / "spec.toml").write_text(SPEC)
    done = quiclab("run", tmp_path / "spec.toml", "--out", study)
    assert done.returncode == 0, done.stdout + done.stderr
    counted = [trial for trial in trials(study) if trial["status"] == "verified"]
    assert all(trial["sender_program"] in trial["row"]["arm"] for trial in counted)
    rows = [trial["row"] for trial in counted]
    main = [row for row in rows if row["kind"] == "main"]
    assert {row["arm"]: row["baseline_arm"] for row in main} == {
        "h2-nginx": "h2-nginx", "h2-caddy": "h2-caddy", "h3-nginx": "h2-nginx", "h3-caddy": "h2-caddy",
    }  # fmt: skip
    blocks: dict[int, set[str]] = {}
    for row in main:
        blocks.setdefault(row["block"], set()).add(row["arm"])
    assert [len(arms) for arms in blocks.values()] == [4, 4]
    assert {row["baseline_arm"] for row in rows if row["kind"] == "aa"} == {f"{row['arm']}#1" for row in main}
    document = json.loads(quiclab("report", study, "--json").stdout)["analysis"]
    assert [(each["baseline"]["arm"], each["other"]["arm"], each["pairs"]) for each in document["comparisons"]] == [
        ("h2-caddy", "h3-caddy", 2), ("h2-nginx", "h3-nginx", 2),
    ]  # fmt: skip
    page = (study / "report.html").read_text()
    assert "h3-nginx against h2-nginx" in re.sub(r"\s+", " ", page)
    drawn = quiclab("figure", "factor", study, "--factor", "server", "-o", tmp_path / "factor.csv")
    assert drawn.returncode == 0, drawn.stderr
    drawn_rows = pl.read_csv(tmp_path / "factor.csv").select("arm", "x").rows()
    assert drawn_rows == [("h2", "caddy"), ("h2", "nginx"), ("h3", "caddy"), ("h3", "nginx")]
    assert quiclab("verify", study).returncode == 0
