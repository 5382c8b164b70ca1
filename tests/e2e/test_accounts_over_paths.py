# SPDX-License-Identifier: Apache-2.0
"""Accounts of real transfers over links in a row, and with another flow in a queue that serves flows in turn."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from accounts import account_of, sums_ms
from small_study import main_only, quiclab, trials
from stack_study import spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_LINKS = """
[[path.link]]
name = "access"
rate = "10 Mbit/s"
delay = "2 ms"

[[path.link]]
name = "core"
rate = "50 Mbit/s"
delay = "8 ms"
"""
_FAR_LINKS = """
[[path.link]]
name = "access"
rate = "20 Mbit/s"
delay = "10 ms"

[[path.link]]
name = "core"
rate = "100 Mbit/s"
delay = "30 ms"
"""
_FAIR = 'rate = "10 Mbit/s"\ndelay = "10 ms"\nqueue = "300 packets"\naqm = "fq_codel"'
_UDP = 'competition = { start = "100 ms", background = [{ kind = "udp", rate = "8 Mbit/s" }] }'


def _arm(protocol: str) -> str:
    return f'protocol = "{protocol}"\nclient = "curl-cffi"\nserver = "caddy"'


def _run(
    folder: Path, path: str, workload: str = "", arms: dict[str, str] | None = None, size: str = "400 KB"
) -> dict[str, pl.DataFrame]:
    text = spec_text(arms or {"h2": _arm("h2"), "h3": _arm("h3")}, size, path=path, workload=workload)
    spec = folder / "spec.toml"
    spec.write_text(text.replace('rate = "50 Mbit/s"\ndelay = "10 ms"\n', "", 1))
    done = quiclab("run", main_only(spec), "--out", folder / "study", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    kept = [trial for trial in trials(folder / "study") if trial["status"] != "void"]
    return {trial["row"]["arm"]: account_of(folder / "study", trial) for trial in kept}


def test_the_slow_link_of_two_is_the_bottleneck(tmp_path: Path) -> None:
    """A body of 400 KB takes 320 ms at 10 Mbit/s and headers some more; nearly all of it is served at that link."""
    for edges in _run(tmp_path, _LINKS).values():
        served = edges.filter(pl.col("why") == "link_busy", pl.col("packets").is_not_null())
        ms = sums_ms(served, "link")
        assert 320 < ms["raw/link.qplog"] < 400
        assert ms.get("raw/link-2.qplog", 0) < 0.1 * ms["raw/link.qplog"]
        assert sums_ms(edges, "what")["propagation_up"] > 19  # both links, in QUIC twice, in TCP three times


def test_a_small_receive_window_holds_over_both_links(tmp_path: Path) -> None:
    """Packets have left the server, and wait in no queue, when the client's link begins to be idle: the wait before
    they left is the window's, and not slow start's, whose window has half of its room free."""
    small = 'tcp = { congestion_control = "cubic", receive_buffer = ["4096 B", "65536 B", "65536 B"] }'
    (edges,) = _run(tmp_path, _FAR_LINKS, arms={"h2": f"{_arm('h2')}\n{small}"}, size="1 MB").values()
    ms = sums_ms(edges, "why")
    assert ms["receive_window"] > 2 * ms["slow_start"] > 0
    begun = edges.filter(why="receive_window")["from_ns"].min()
    later = sums_ms(edges.filter(pl.col("from_ns") > begun), "why")
    assert later.get("slow_start", 0) < 0.05 * later["receive_window"]


@pytest.mark.nightly
def test_another_flow_in_a_fair_queue_takes_its_turns(tmp_path: Path) -> None:
    """Half of the link is left to each: while packets of the transfer wait, datagrams are served for nearly as long."""
    for edges in _run(tmp_path, _FAIR, _UDP).values():
        busy = sums_ms(edges.filter(why="link_busy"), "what")
        own = sum(ms for what, ms in busy.items() if what != "other_flow")
        assert 320 < own < 420
        assert 0.4 * own < busy["other_flow"] < 1.3 * own
