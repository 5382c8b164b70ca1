# SPDX-License-Identifier: Apache-2.0
"""Paths that mark, block, or change their rate by chance, with real programs over the emulated link."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import polars as pl
import pytest
from small_study import main_only, quiclab, trials, write_spec
from stack_study import need, run_arms

from quiclab.model.study import RandomRate
from quiclab.model.units import Bitrate, Duration
from quiclab.spec.random_rate import drawn_rates

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_H2 = 'protocol = "h2"\nclient = "curl-cffi"\nserver = "caddy"'


@pytest.mark.nightly
def test_a_path_that_marks_drops_nothing_of_tcp(tmp_path: Path) -> None:
    """TCP takes part by itself; one that is told not to loses packets in the place of marks."""
    off = _H2 + '\ntcp = { congestion_control = "cubic", ecn = false }'
    path = 'queue = "500 packets"\naqm = { model = "codel", ecn = true, target = "1 ms", interval = "20 ms" }'
    marked = run_arms(tmp_path, {"h2": _H2, "off": off}, "2 MB", path)
    assert {name: trial["status"] for name, trial in marked.items()} == {"h2": "verified", "off": "verified"}
    on, without = marked["h2"]["proof"]["ecn"]["down"], marked["off"]["proof"]["ecn"]["down"]
    assert on["ce"] == on["marked_by_link"] > 0
    assert on["ect0"] + on["ce"] > 0.9 * on["packets"]
    assert marked["h2"]["link"]["down"]["dropped"] == {}
    assert (without["ect0"], without["ce"], without["marked_by_link"]) == (0, 0, 0)
    assert marked["off"]["link"]["down"]["dropped"]["aqm"] > 0


def test_two_quic_programs_that_take_part_are_marked(tmp_path: Path) -> None:
    """quinn sends ECT(0) and reports what arrives, so it goes on sending it."""
    need(("client", "quinn"), ("server", "quinn"))
    quinn = 'protocol = "h3"\nclient = "quinn"\nserver = "quinn"'
    path = 'queue = "500 packets"\naqm = { model = "codel", ecn = true, target = "1 ms", interval = "20 ms" }'
    trial = run_arms(tmp_path, {"h2": _H2, "h3": quinn}, "1 MB", path)["h3"]
    assert trial["status"] == "verified", trial["reason"]
    down = trial["proof"]["ecn"]["down"]
    assert down["ce"] == down["marked_by_link"] > 0
    assert down["ect0"] + down["ce"] > 0.9 * down["packets"]


def test_a_path_that_blocks_udp_fails_http3_at_the_limit(tmp_path: Path) -> None:
    """With that reason, and without falling back; HTTP/2 does not notice."""
    spec = write_spec(tmp_path, path='block = { protocol = "udp" }', trial_limit="2 s")
    study = tmp_path / "study"
    assert quiclab("run", main_only(spec), "--out", study, "--no-report").returncode == 1
    kept = [trial for trial in trials(study) if trial["status"] != "void"]
    assert kept
    for trial in kept:
        if trial["protocol"] == "h2":
            assert trial["status"] == "verified", trial["reason"]
            continue
        assert trial["status"] == "failed"
        assert trial["reason"].startswith("the client did not end within 2 s (limits.trial); the path dropped ")
        assert trial["reason"].endswith(" as blocked")
        assert trial["proof"]["transport"] in ("quic", "none")


@pytest.mark.nightly
def test_a_rate_drawn_by_chance_is_the_one_that_the_plan_tells(tmp_path: Path) -> None:
    """While the queue is never empty, a packet's time of service is that of the rate of its period."""
    least, most, period_ns = Bitrate(4_000_000), Bitrate(12_000_000), 100_000_000
    path = f'[path.down]\nrate = {{ least = "{least}", most = "{most}", every = "100 ms" }}'
    trial = run_arms(tmp_path, {"a": _H2, "b": _H2 + '\ntcp = { congestion_control = "reno" }'}, "1 MB", path)["a"]
    assert trial["status"] == "verified", trial["reason"]
    assert quiclab("report", tmp_path / "study").returncode == 0
    packets = pl.read_parquet(tmp_path / "study" / "tables" / "link_packets" / f"{trial['trial_id']}.parquet")
    full = packets.filter(pl.col("direction") == "down", pl.col("size_bytes") == 1500, pl.col("service_ns") > 0)
    start_ns = packets["arrival_ns"].min()
    drawn = drawn_rates(RandomRate(least, most, Duration(period_ns)), trial["row"]["seed"], "bottleneck", "down")
    expected_ns = [12_000 * 10**9 // rate.bit_per_s for rate in islice(drawn, 100)]
    matched = sum(
        any(abs(service_ns - expected_ns[period]) <= 2 for period in range(arrived, arrived + 4))
        for service_ns, arrived in zip(
            full["service_ns"], ((full["arrival_ns"] - start_ns) // period_ns).to_list(), strict=True
        )
    )
    assert matched > 0.9 * full.height > 100
