# SPDX-License-Identifier: Apache-2.0
"""Studies of HTTP/3 alone, in which nothing goes over TCP: a single arm, and a gate of two of its studies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_study import quiclab

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_HEAD = """\
[study]
name = "alone"
seed = 3
blocks = 2
aa = {{ blocks = 0 }}

[limits]
disturbance = "100 %"

[[workload]]
name = "object"
size = {sizes}

[[path]]
name = "plain"
rate = "20 Mbit/s"
rtt = "10 ms"
"""


def _arm(name: str, congestion_control: str) -> str:
    server = f'{{ name = "aioquic", congestion_control = "{congestion_control}" }}'
    return f'\n[[arm]]\nname = "{name}"\nprotocol = "h3"\nclient = "aioquic"\nserver = {server}\n'


def _run(folder: Path, text: str) -> tuple[Path, str]:
    spec, study = folder.with_suffix(".toml"), folder
    spec.write_text(text)
    done = quiclab("run", spec, "--out", study)
    assert done.returncode == 0, done.stdout + done.stderr
    return study, done.stdout


def test_one_arm_is_measured_and_two_studies_of_it_are_a_gate(tmp_path: Path) -> None:
    """Its numbers are printed and on the page, no packet is TCP's, and a gate has both cells of the grid."""
    studies = []
    for number in (1, 2):
        arm = '\n[[arm]]\nname = "quic"\nprotocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n'
        study, told = _run(tmp_path / f"s{number}", _HEAD.format(sizes=["20 KB", "60 KB"]) + arm)
        studies.append(study)
        assert "One arm: nothing is compared." in told
    found = quiclab("sql", studies[0], "select distinct transport from packets", "--json")
    assert json.loads(found.stdout)["rows"] == [{"transport": "quic"}]
    page = (studies[0] / "report.html").read_text()
    assert "20 KB" in page
    gate = quiclab("compare", *studies, "--json", "--fail-if", "ttlb > +900%")
    document = json.loads(gate.stdout)
    assert {change["workload"] for change in document["compared"]["changes"]} == {"object-20KB", "object-60KB"}
    assert gate.returncode in (0, 8), gate.stdout + gate.stderr
    assert quiclab("explain", studies[0]).returncode == 2


def test_two_arms_of_http_3_need_no_tcp(tmp_path: Path) -> None:
    """Two congestion controls of one server are compared with each other."""
    arms = _arm("reno", "reno") + _arm("cubic", "cubic")
    study, told = _run(tmp_path / "s", _HEAD.format(sizes='"20 KB"') + arms)
    assert "reno (HTTP/3) against cubic (HTTP/3)" in " ".join(told.split())
    found = quiclab("sql", study, "select distinct transport from packets", "--json")
    assert json.loads(found.stdout)["rows"] == [{"transport": "quic"}]
