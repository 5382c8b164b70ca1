# SPDX-License-Identifier: Apache-2.0
"""Several links in a row with real packets: each keeps its own books, delays add up, and nodes lose nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from live_link import bulk_tcp, in_sandbox, open_path, udp_flood

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import Backend
from quiclab.logs.decoders._api import Context
from quiclab.logs.decoders.packet_log import PacketLog
from quiclab.model.study import Bernoulli, Direction, Link
from quiclab.model.study import Path as LinkPath
from quiclab.model.units import Bitrate, Duration, Share

pytestmark = pytest.mark.netns
NEAR_MS, FAR_MS = 3, 8


def path_of(lossy: bool = False) -> LinkPath:
    """Two links: only the second one loses packets, where any is to be lost."""
    near = Direction(rate=Bitrate(50_000_000), delay=Duration(NEAR_MS * 10**6))
    loss = Bernoulli(Share(0.02)) if lossy else None
    far = Direction(rate=Bitrate(20_000_000), delay=Duration(FAR_MS * 10**6), loss=loss)
    return LinkPath("two", near, near, link_name="near", more_links=(Link("far", far, far),))


def by_super_packet() -> LinkPath:
    """Two links, of which the second one on the way to the server loses whole super-packets."""
    near = Direction(rate=Bitrate(50_000_000), delay=Duration(NEAR_MS * 10**6))
    far = Direction(
        rate=Bitrate(40_000_000), delay=Duration(FAR_MS * 10**6), loss=Bernoulli(Share(0.02)), loss_by="super-packet"
    )
    return LinkPath("two", near, near, link_name="near", more_links=(Link("far", far, far),))


def logged(folder: Path, name: str) -> pl.DataFrame:
    """What a packet log says of the packets that the model handled."""
    packets = PacketLog().decode(folder / name, Context()).tables["link_packets"]
    return packets.filter(pl.col("action") != "outside_model")


@pytest.fixture(params=["tun", *by_night("veth")])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Both ways to carry packets, where this machine has them."""
    if request.param == "tun" and (problem := in_sandbox(tun_problem)) is not None:
        pytest.skip(f"no TUN device here: {problem}")
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("ip_version", [6, *by_night(4)])
def test_a_connection_crosses_both_links(tmp_path: Path, backend: Backend, ip_version: int) -> None:
    """TCP runs end to end over either family; what leaves one link reaches the next, and each link's books balance."""

    def work() -> dict[str, Any]:
        with open_path(path_of(), tmp_path, backend) as ends:
            moved = bulk_tcp(ends, 0.5, ip_version)
            time.sleep(0.1)
            return {"tcp": moved, "link": ends.link.stop()}

    told = in_sandbox(work)
    first, second = told["link"], told["link"]["more_links"][0]
    assert told["tcp"]["bytes"] > 0
    assert (first["link"], second["link"]) == ("near", "far")
    for link in (first, second):
        for side in ("up", "down"):
            books = link[side]
            out = books["delivered"] + sum(books["dropped"].values()) + books["inside_at_end"]
            assert books["packets_in"] + books["duplicated"] == out
    assert first["up"]["delivered"] == second["up"]["packets_in"]
    assert second["down"]["delivered"] == first["down"]["packets_in"]
    for link in (first, second):
        assert sum(link["outside_drops"].values()) == 0


def test_delays_add_up(tmp_path: Path, backend: Backend) -> None:
    """Every datagram needs the first link's delay before it reaches the second, and then the second's."""

    def work() -> dict[str, int]:
        with open_path(path_of(), tmp_path, backend) as ends:
            counts = udp_flood(ends, 5_000_000, 0.4)
            ends.link.stop()
            return counts

    counts = in_sandbox(work)
    assert counts["arrived"] == counts["sent"]
    near, far = (logged(tmp_path, name).filter(pl.col("direction") == "up") for name in ("link.qplog", "link-2.qplog"))
    assert near.height == far.height == counts["sent"]
    assert (near["due_ns"] - near["arrival_ns"]).min() >= NEAR_MS * 10**6  # type: ignore[operator]
    # A packet may be seen by the second link only once the first has let it go.
    assert (far["arrival_ns"] - near["due_ns"]).min() >= 0  # type: ignore[operator]
    assert (far["due_ns"] - near["arrival_ns"]).min() >= (NEAR_MS + FAR_MS) * 10**6  # type: ignore[operator]


def test_loss_stays_on_its_link(tmp_path: Path, backend: Backend) -> None:
    """Loss on the second link takes packets there, as its summary and its log say, and none on the first."""

    def work() -> dict[str, Any]:
        with open_path(path_of(lossy=True), tmp_path, backend, captures=True) as ends:
            counts = udp_flood(ends, 10_000_000, 0.6)
            return {"udp": counts, "link": ends.link.stop()}

    told = in_sandbox(work)
    first, second = told["link"], told["link"]["more_links"][0]
    lost = second["up"]["dropped"].get("loss_entry", 0)
    assert lost > 0
    assert sum(first["up"]["dropped"].values()) == 0
    assert told["udp"]["sent"] - told["udp"]["arrived"] == lost
    assert logged(tmp_path, "link-2.qplog").filter(pl.col("action") == "dropped").height == lost
    names = ("client.pcapng", "server.pcapng", "link-2-client.pcapng", "link-2-server.pcapng")
    assert all((tmp_path / name).stat().st_size > 0 for name in names)


def test_what_passes_before_the_workload_is_none_of_it(tmp_path: Path, backend: Backend) -> None:
    """It takes its time over both links and is lost as all is; then numbers, t = 0, draws and books are fresh."""

    def work() -> dict[str, Any]:
        with open_path(path_of(lossy=True), tmp_path, backend, begins_when_told=True) as ends:
            before = udp_flood(ends, 5_000_000, 0.3)
            time.sleep(0.2)
            ends.link.begin()
            begun_ns = time.monotonic_ns()
            after = udp_flood(ends, 5_000_000, 0.3)
            return {"before": before, "after": after, "begun_ns": begun_ns, "link": ends.link.stop()}

    told = in_sandbox(work)
    for name, link in (("link.qplog", told["link"]), ("link-2.qplog", told["link"]["more_links"][0])):
        rows = PacketLog().decode(tmp_path / name, Context()).tables["link_packets"]
        rows = rows.filter(pl.col("direction") == "up")
        early, own = rows.filter(pl.col("arrival_ns") < told["begun_ns"]), rows.filter(pl.col("index").is_not_null())
        assert set(early["action"]) == {"outside_model"}
        assert early.height >= told["before"]["sent"] * 0.9
        delivered = early.filter(pl.col("reason").is_null(), pl.col("size_bytes") > 1400)  # not the kernel's own
        assert (delivered["due_ns"] - delivered["arrival_ns"]).min() >= NEAR_MS * 10**6  # type: ignore[operator]
        assert own["arrival_ns"].min() >= told["begun_ns"]  # type: ignore[operator]
        assert sorted(own["index"]) == list(range(own.height))
        assert link["model_zero_ns"] == own["arrival_ns"].min()
        assert link["up"]["packets_in"] == own.height
    lost = told["link"]["more_links"][0]["up"]["dropped"].get("loss_entry", 0)
    assert told["after"]["sent"] - told["after"]["arrived"] == lost


def test_a_super_packet_is_one_on_every_link(tmp_path: Path, backend: Backend) -> None:
    """The node between two links passes packets on as it likes; the second link loses what the host sent as one."""

    def work() -> dict[str, int]:
        with open_path(by_super_packet(), tmp_path, backend) as ends:
            moved = bulk_tcp(ends, 1.5)
            ends.link.stop()
            return moved

    in_sandbox(work)
    near, far = (
        logged(tmp_path, name).filter(pl.col("direction") == "up", pl.col("size_bytes") > 600)
        for name in ("link.qplog", "link-2.qplog")
    )
    assert far["source_burst"].n_unique() == near["source_burst"].n_unique()
    assert near.height > 1.2 * near["source_burst"].n_unique(), "the host hands over several at a time"
    fates = far.group_by("source_burst").agg(
        (pl.col("action") == "dropped").n_unique().alias("fates"), (pl.col("action") == "dropped").any().alias("lost")
    )
    assert fates["fates"].max() == 1
    assert 0 < fates["lost"].sum() < 0.1 * fates.height
