# SPDX-License-Identifier: Apache-2.0
"""What an arm sets on TCP, on a program or on a workload is seen in what its trials sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from stack_study import need, run_arms

from quiclab.decoders.tcp_info import read_tcp_info_log

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.parametrize("server", ["caddy", "nginx", "quic-go"])
def test_tcp_is_paced_whatever_the_server(tmp_path: Path, server: str) -> None:
    """The first window leaves at once, or over many looks at the connection: it is the same size."""
    need(("server", server))
    arm = f'protocol = "h2"\nclient = "curl-cffi"\nserver = "{server}"\ntcp = {{ congestion_control = "cubic"'
    arm += ", initial_window = 100, pacing = "
    found = run_arms(tmp_path, {"paced": arm + "true }", "burst": arm + "false }"}, size="1 MB", delay="100 ms")
    on_the_way = {}
    for name, trial in found.items():
        assert trial["status"] == "verified", trial["reason"]
        log = read_tcp_info_log(tmp_path / "study" / "trials" / trial["trial_id"] / "raw" / "server.tcpinfo")
        sent = log.samples.filter(log.samples["state"] == "ESTABLISHED")["bytes_sent"].unique()
        on_the_way[name] = sent.is_between(5_000, 60_000).sum()
    assert on_the_way["burst"] <= 1
    assert on_the_way["paced"] >= 3
    assert list(found["paced"]["host"]["tcp_pacing_limit_bytes_per_s"]) == ["client"]
