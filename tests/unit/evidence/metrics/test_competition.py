# SPDX-License-Identifier: Apache-2.0
"""Competitions small enough to compute in the head: who got what, and that other metrics see the measured flow only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from trial_records import record
from unit.evidence.metrics.scenes import Scene, ns, tcp_scene

from quiclab.evidence.metrics import compute_trial
from quiclab.evidence.metrics.competition import jain_index
from quiclab.evidence.metrics.flows import flow_throughput, flows
from quiclab.logs.decoders import decode_trial

MEASURED = ("10.77.0.1", "10.77.0.2")
OTHER = (bytes((10, 77, 1, 1)), bytes((10, 77, 1, 2)))


def _moved(ip: bytes, port: int) -> bytes:
    """A packet of the measured pair as the other pair's; checksums are nobody's concern here."""
    server_sends = int.from_bytes(ip[20:22]) == 443
    client, server = OTHER
    ends = server + client if server_sends else client + server
    ports = port.to_bytes(2) + ip[22:24] if server_sends else ip[20:22] + port.to_bytes(2)
    return ip[:12] + ends + ports + ip[24:]


def _sent() -> list[tuple[str, float, bytes, dict[str, Any]]]:
    """What tcp_scene sends."""
    sent: list[tuple[str, float, bytes, dict[str, Any]]] = []

    def note(_: Scene, direction: str, ms: float, ip: bytes, **how: Any) -> None:
        sent.append((direction, ms, ip, how))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scene, "send", note)
        tcp_scene()
    return sent


def _competing() -> Scene:
    """The scene of tcp_scene, and the same once more by another pair, each packet a quarter of a millisecond later."""
    scene = Scene("h2")
    for direction, ms, ip, how in _sent():
        scene.send(direction, ms, ip, **how)
        scene.send(direction, ms + 0.25, _moved(ip, 444), **how)
    scene.request = tcp_scene().request
    flow = {"protocol": "h2", "background": None, "started_ns": ns(0)}
    scene.extra = {
        "server_address": MEASURED[1],
        "server_port": 443,
        "competition": {
            "began_ns": ns(0),
            "ended_ns": ns(1250),
            "flows": [
                {**flow, "label": "measured", "arm": "h2", "server_address": MEASURED[1], "server_port": 443},
                {**flow, "label": "h2-1", "arm": "h2", "server_address": "10.77.1.2", "server_port": 444},
            ],
        },
    }
    return scene


def test_every_other_metric_is_the_measured_flows(tmp_path: Path) -> None:
    """As if the other flow were not there, except for the link itself."""
    (tmp_path / "alone").mkdir()
    (tmp_path / "together").mkdir()
    alone, together = tcp_scene().metrics(tmp_path / "alone"), _competing().metrics(tmp_path / "together")
    of_the_link = {name for name in alone if name.startswith(("lateness_", "path_", "queue_max_"))}
    for name in set(alone) - of_the_link:
        if alone[name].value is not None:
            assert together[name].value == alone[name].value, name


def test_two_that_get_the_same(tmp_path: Path) -> None:
    """Shares of one half, an index of 1; losses and goodput of each by its own packets."""
    scene = _competing()
    trial = scene.lay_out(tmp_path)
    tables = decode_trial(tmp_path).tables
    rows = flows(tables, record(trial))
    assert rows["flow"].to_list() == ["measured", "h2-1"]
    assert rows["share_pct"].to_list() == [50, 50]
    assert rows["lost_packets_down"].to_list() == [1, 1]
    assert rows["retransmitted_bytes"].to_list() == [100, 100]
    assert rows["goodput_bit_per_s"][0] == rows["goodput_bit_per_s"][1] == 8 * 530 / 1.25
    values = {row.name: row.value for row in compute_trial(tmp_path, tables, record(trial))}
    assert (values["share_pct"], values["fair_share_ratio"], values["jain_index"]) == (50, 1, 1)
    assert values["shared_throughput_bit_per_s"] == values["others_throughput_bit_per_s"]
    assert values["converge_ms"] is None


def test_every_step_has_a_row(tmp_path: Path) -> None:
    """13 steps in 1.25 s, empty ones too; together they hold all that arrived from each."""
    scene = _competing()
    trial = scene.lay_out(tmp_path)
    tables = decode_trial(tmp_path).tables
    steps = flow_throughput(tables, record(trial))
    assert steps.filter(pl.col("flow") == "measured")["time_ms"].to_list() == [*(100.0 * n for n in range(1, 13)), 1250]
    down = tables["ip_packets"].filter(pl.col("vantage") == "client", pl.col("direction") == "down")
    for flow, port in (("measured", 443), ("h2-1", 444)):
        arrived = down.filter(pl.col("src_port") == port)["size_bytes"].sum()
        assert steps.filter(pl.col("flow") == flow)["bytes"].sum() == arrived


def test_without_a_competition_there_is_nothing(tmp_path: Path) -> None:
    """Tables without rows, metrics that say why."""
    trial = tcp_scene().lay_out(tmp_path)
    tables = decode_trial(tmp_path).tables
    assert flows(tables, record(trial)).is_empty()
    assert flow_throughput(tables, record(trial)).is_empty()
    row = next(row for row in compute_trial(tmp_path, tables, record(trial)) if row.name == "jain_index")
    assert (row.value, row.note) == (None, "nobody else used the link")


def test_jain_index() -> None:
    """1 where all have the same, 1/n where one has all."""
    assert jain_index([3, 3, 3]) == 1
    assert jain_index([5, 0, 0, 0]) == 0.25
    assert jain_index([3, 1]) == 0.8
    assert jain_index([0, 0]) == 0
