# SPDX-License-Identifier: Apache-2.0
"""Paths that lose packets for their size, with real programs: what becomes of them, and what quiclab calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_study import main_only, quiclab, trials, write_spec
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_QUINN = 'protocol = "h3"\nclient = "quinn"\nserver = '
_GROWING, _SMALL = f'{_QUINN}"quinn"', f'{_QUINN}{{ name = "quinn", path_mtu_discovery = false }}'
_HOLE, _LARGE = "path_mtu_black_hole", "large_packets_lost"


def _table(folder: Path, name: str, trial: dict[str, Any]) -> pl.DataFrame:
    assert trial["status"] == "verified", trial["reason"]
    return pl.read_parquet(folder / "study" / "tables" / name / f"{trial['trial_id']}.parquet")


def _named_ms(folder: Path, trial: dict[str, Any]) -> dict[str, float]:
    """Mechanism → its time in ms."""
    account = _table(folder, "account", trial)
    ms = (pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6
    return dict(account.drop_nulls("mechanism").group_by("mechanism").agg(ms).iter_rows())


def _facts(folder: Path, trial: dict[str, Any], mechanism: str) -> dict[str, float]:
    rows = _table(folder, "mechanism_facts", trial).filter(pl.col("mechanism") == mechanism)
    return dict(rows.select("fact", "value").iter_rows())


def test_a_path_that_loses_some_large_packets_is_told_from_one_that_loses_any(tmp_path: Path) -> None:
    """quinn's datagrams grow to 1,452 bytes and are lost; those of 1,200 are not, and uniform loss is not called so."""
    need(("client", "quinn"), ("server", "quinn"))
    arms = {"growing": _GROWING, "small": _SMALL}
    found = run_arms(
        tmp_path, arms, size="2 MB", path='[path.down]\noversize = {above = "1300 B", probability = "4 %"}'
    )
    growing, small = _named_ms(tmp_path, found["growing"]), _named_ms(tmp_path, found["small"])
    assert growing.get(_LARGE, 0) > 5, growing
    assert not {_HOLE, _LARGE} & small.keys()
    told = _facts(tmp_path, found["growing"], _LARGE)
    lost = found["growing"]["link"]["down"]["dropped"]["oversize"]
    assert told["lost_packets"] == lost > 10
    assert 1300 < told["smallest_lost"] <= told["largest_that_arrived"] == 1480  # with probes among them
    assert 1 < told["lost_of_that_size_or_larger"] < 8
    assert "oversize" not in found["small"]["link"]["down"]["dropped"]


def test_uniform_loss_is_not_called_a_loss_of_large_packets(tmp_path: Path) -> None:
    """Nearly all packets to the client are large, so that nearly all that are lost are."""
    need(("client", "quinn"), ("server", "quinn"))
    found = run_arms(tmp_path, {"growing": _GROWING, "small": _SMALL}, size="2 MB", path='[path.down]\nloss = "4 %"')
    for trial in found.values():
        named = _named_ms(tmp_path, trial)
        assert trial["link"]["down"]["dropped"]["loss_entry"] > 10
        assert named.get("loss_on_the_path", 0) > 0
        assert not {_HOLE, _LARGE} & named.keys()


def test_a_black_hole_that_opens_is_named_until_quic_sends_smaller_datagrams(tmp_path: Path) -> None:
    """quinn's datagrams have grown when it opens, and its black hole detection makes them small again."""
    need(("client", "quinn"), ("server", "quinn"))
    hole = '[path.down]\nrate = "10 Mbit/s"\noversize = {above = "1300 B", after = "300 ms"}'
    found = run_arms(tmp_path, {"growing": _GROWING, "small": _SMALL}, size="1 MB", path=hole)
    growing, small = _named_ms(tmp_path, found["growing"]), _named_ms(tmp_path, found["small"])
    assert growing.get(_HOLE, 0) > 20, growing
    assert _LARGE not in growing
    assert not {_HOLE, _LARGE} & small.keys()
    told = _facts(tmp_path, found["growing"], _HOLE)
    assert told["lost_of_that_size_or_larger"] == 100
    assert told["largest_that_arrived"] <= 1300 < told["smallest_lost"]
    assert told["lost_for_their_size"] == found["growing"]["link"]["down"]["dropped"]["oversize"] >= 3


def test_a_handshake_that_does_not_fit_is_told_from_a_lost_one(tmp_path: Path) -> None:
    """The client's first datagrams vanish up; it is the size, and no chance, that the failed trial names."""
    need(("client", "quic-go"), ("server", "quinn"))
    arm = 'protocol = "h3"\nserver = "quinn"\nclient = { name = "quic-go"'
    arms = {"large": arm + " }", "small": arm + ", max_payload = 1200 }"}
    found = run_arms(tmp_path, arms, path='[path.up]\noversize = {above = "1280 B"}')
    assert found["small"]["status"] == "verified", found["small"]["reason"]
    assert found["large"]["status"] == "failed"
    assert "; the path dropped " in found["large"]["reason"]
    assert found["large"]["reason"].endswith(" packets as oversize")


def test_tcp_behind_a_black_hole_stalls_and_its_failure_says_why(tmp_path: Path) -> None:
    """Linux does not probe unless asked: full segments vanish until the limit. Over a path with that MTU it is well."""
    hole = '[path.down]\noversize = {above = "1300 B"}'
    spec = write_spec(tmp_path, path=hole, trial_limit="3 s")
    study = tmp_path / "study"
    assert quiclab("run", main_only(spec), "--out", study, "--no-report").returncode == 1
    kept = {trial["protocol"]: trial for trial in trials(study) if trial["status"] != "void"}
    assert kept["h2"]["status"] == "failed"
    assert kept["h2"]["reason"].startswith("the client did not end within 3 s (limits.trial); the path dropped ")
    assert kept["h2"]["reason"].endswith(" packets as oversize")


def test_tcp_over_a_link_that_tells_its_mtu_goes_on_in_smaller_segments(tmp_path: Path) -> None:
    """The first full segments are lost, the sender is told by ICMP, and its trial is verified."""
    told = '[path.down]\noversize = {above = "1400 B", too_big = "icmp"}'
    spec = write_spec(tmp_path, path=told, trial_limit="10 s")
    study = tmp_path / "study"
    assert quiclab("run", main_only(spec), "--out", study, "--no-report").returncode == 0
    kept = {trial["protocol"]: trial for trial in trials(study) if trial["status"] != "void"}
    assert kept["h2"]["status"] == "verified", kept["h2"]["reason"]
    assert 0 < kept["h2"]["link"]["down"]["dropped"]["too_big"] < 40
