# SPDX-License-Identifier: Apache-2.0
"""What the live link owes: no loss of its own, exact books, the rate that was asked, on both backends.

How late it is, and how evenly it spaces packets, a loaded machine disturbs: `make bench` reports that.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from live_link import BACKENDS, bulk_tcp, in_sandbox, open_link, received, udp_flood, with_backend

from quiclab.lab.testbed.link import Backend
from quiclab.model.study import Bernoulli, Direction, Jitter, Queue, Reorder
from quiclab.model.units import Bitrate, Duration, Share

pytestmark = [pytest.mark.netns, pytest.mark.alone]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Both ways to carry packets, where this machine has them."""
    return with_backend(request.param)


def _check_books(summary: dict[str, Any]) -> None:
    for side in ("up", "down"):
        books = summary[side]
        assert books["packets_in"] + books["duplicated"] == (
            books["delivered"] + sum(books["dropped"].values()) + books["inside_at_end"]
        )
    assert sum(summary["outside_drops"].values()) == 0
    assert summary["log"]["complete"]


@pytest.mark.parametrize("seconds", [2, *by_night(10)])
def test_without_impairment_tcp_retransmits_nothing(backend: Backend, tmp_path: Path, seconds: int) -> None:
    """TCP at full speed: no drop outside the model, no record lost, every packet delivered, and none so far out
    of its order that TCP takes it for lost."""

    def work() -> dict[str, Any]:
        with open_link(Direction(), tmp_path, backend) as ends:
            flow = bulk_tcp(ends, seconds)
            return {"flow": flow, "summary": ends.link.stop()}

    outcome = in_sandbox(work)
    _check_books(outcome["summary"])
    assert outcome["summary"]["up"]["dropped"] == {}
    up = outcome["summary"]["up"]
    assert up["delivered"] == up["packets_in"]
    assert outcome["flow"]["retransmits"] == 0
    assert outcome["flow"]["bytes"] > 10_000_000 * seconds


def test_a_link_that_may_not_run_for_a_moment_loses_nothing(backend: Backend, tmp_path: Path) -> None:
    """The machine may give its processors to others, here for 100 ms three times: what TCP sends meanwhile waits."""

    def work() -> dict[str, Any]:
        with open_link(Direction(), tmp_path, backend) as ends:
            for at in (0.5, 1.0, 1.5):
                threading.Timer(at, _hold, [ends.link.pid, 0.1]).start()
            bulk_tcp(ends, 2)
            return ends.link.stop()

    summary = in_sandbox(work)
    _check_books(summary)
    assert summary["up"]["delivered"] == summary["up"]["packets_in"]


def _hold(pid: int, seconds: float) -> None:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


def test_without_impairment_udp_at_1_gbit_loses_nothing(backend: Backend, tmp_path: Path) -> None:
    """Everything that the sender's device took is delivered to the receiver's."""

    def work() -> dict[str, Any]:
        with open_link(Direction(), tmp_path, backend) as ends:
            flow = udp_flood(ends, 1_000_000_000, 2)
            return {"flow": flow, "summary": ends.link.stop()}

    outcome = in_sandbox(work)
    _check_books(outcome["summary"])
    up = outcome["summary"]["up"]
    assert up["packets_in"] == outcome["flow"]["sent"] == up["delivered"]


@pytest.mark.parametrize("seconds", [2, *by_night(10)])
def test_the_rate_over_seconds(backend: Backend, tmp_path: Path, seconds: int) -> None:
    """A saturated link passes what was asked to within 0.1 %, and each packet takes its own time of service."""

    def work() -> dict[str, Any]:
        direction = Direction(rate=Bitrate(50_000_000), delay=Duration(5_000_000), queue=Queue(packets=500))
        with open_link(direction, tmp_path, backend) as ends:
            bulk_tcp(ends, seconds)
            return ends.link.stop()

    _check_books(in_sandbox(work))
    from quiclab.logs.decoders import decode_trial

    (tmp_path / "raw").mkdir()
    (tmp_path / "link.qplog").rename(tmp_path / "raw" / "link.qplog")
    (tmp_path / "trial.json").write_text("{}")
    import polars as pl

    packets = (
        decode_trial(tmp_path)
        .tables["link_packets"]
        .filter(pl.col("direction") == "up", pl.col("action") == "delivered")
    )
    packets = packets.sort("due_ns")
    assert packets["service_ns"].to_list() == [size * 8 * 20 for size in packets["size_bytes"]]
    # While packets wait, the instants at which they leave are exactly one time of service apart.
    busy = packets.with_columns(gap=pl.col("due_ns").diff()).filter(pl.col("queue_bytes") > 1500)
    assert busy.height > 1000 * seconds
    rate = busy["size_bytes"].sum() * 8e9 / busy["gap"].sum()
    assert abs(rate / 50e6 - 1) < 0.001


def test_books_balance_with_every_effect_at_once(backend: Backend, tmp_path: Path) -> None:
    """Sent + duplicated = delivered + dropped + still inside, whatever happens on the way; what was corrupted never
    reaches the program."""
    direction = Direction(
        rate=Bitrate(100_000_000),
        delay=Duration(3_000_000),
        queue=Queue(packets=20),
        jitter=Jitter("normal", Duration(500_000), mode="reorder"),
        loss=Bernoulli(Share(0.02)),
        reorder=Reorder(Share(0.02), Duration(1_000_000)),
        duplicate=Share(0.02),
        corrupt=Share(0.02),
    )

    def work() -> dict[str, Any]:
        with open_link(direction, tmp_path, backend, captures=True) as ends:
            flow = udp_flood(ends, 120_000_000, 1)
            return {"flow": flow, "summary": ends.link.stop()}

    outcome = in_sandbox(work)
    _check_books(outcome["summary"])
    up, flow = outcome["summary"]["up"], outcome["flow"]
    assert up["packets_in"] == flow["sent"]
    assert up["dropped"]["loss_entry"] > 0
    assert up["dropped"]["queue_full"] > 0
    assert up["duplicated"] > 0
    assert up["corrupted"] > 0
    assert flow["received"] <= up["delivered"] - up["corrupted"] + up["duplicated"]
    assert flow["distinct"] <= flow["sent"]


@pytest.mark.parametrize("transport", ["tcp6", "udp", *by_night("tcp4")])
def test_the_receiver_gets_each_packet_by_itself(backend: Backend, tmp_path: Path, transport: str) -> None:
    """The far end's interface is handed as many packets as the link says it delivered: none of them in one piece with
    another, as a network card would coalesce them."""

    def work() -> dict[str, Any]:
        with open_link(Direction(), tmp_path, backend) as ends:
            if transport == "udp":
                udp_flood(ends, 500_000_000, 0.5)
            else:
                bulk_tcp(ends, 0.5, int(transport[-1]))
            # The last words of TCP; the interface may go with the link.
            time.sleep(0.3)
            return {"received": received(ends.server), "summary": ends.link.stop()}

    outcome = in_sandbox(work)
    _check_books(outcome["summary"])
    up, header = outcome["summary"]["up"], 14 if backend == "veth" else 0
    # Housekeeping of the first moments may find the far end's interface down.
    packets = outcome["received"]["packets"]
    assert up["delivered"] <= packets <= up["delivered"] + up["outside_model"]
    assert up["delivered"] > 10_000
    received_bytes = outcome["received"]["bytes"] - packets * header
    assert up["delivered_bytes"] <= received_bytes <= up["delivered_bytes"] + up["outside_model"] * 1500


@pytest.mark.parametrize("ip_version", [4, 6])
def test_no_packet_is_larger_than_the_mtu(backend: Backend, tmp_path: Path, ip_version: int) -> None:
    """Super-packets of the sender are split before the model sees them."""

    def work() -> dict[str, Any]:
        direction = Direction(rate=Bitrate(200_000_000))
        with open_link(direction, tmp_path, backend, mtu=1400) as ends:
            flow = bulk_tcp(ends, 0.5, ip_version)
            return {"flow": flow, "summary": ends.link.stop()}

    outcome = in_sandbox(work)
    _check_books(outcome["summary"])
    up = outcome["summary"]["up"]
    assert up["oversized"] == 0
    assert up["bytes_in"] / up["packets_in"] <= 1400
    assert up["bytes_in"] / up["packets_in"] > 1300
