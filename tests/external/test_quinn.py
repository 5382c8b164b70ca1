# SPDX-License-Identifier: Apache-2.0
"""quinn's client against quinn's servers: the programs as they are."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from live_link import in_sandbox
from live_programs import PORT, SIZE, on_loopback, over_link, qlog_events

from quiclab.lab.endpoints._api import Endpoint, Unsupported
from quiclab.lab.endpoints._quinn import PROGRAM
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints.clients.curl_cffi import CurlCffi
from quiclab.lab.endpoints.clients.ngtcp2 import Ngtcp2Client
from quiclab.lab.endpoints.clients.quiche import QuicheClient
from quiclab.lab.endpoints.clients.quinn import QuinnClient
from quiclab.lab.endpoints.servers.quinn import (
    QuinnFaultyInitialPto,
    QuinnFaultyRttSample,
    QuinnFaultyThreshold,
    QuinnFaultyTrickle,
    QuinnServer,
    QuinnTimeThreshold,
)
from quiclab.logs.decoders._api import Context
from quiclab.logs.decoders.qlog import Qlog
from quiclab.model.study import Direction, Knobs, Reorder
from quiclab.model.units import Bitrate, ByteCount, Duration, Share

pytestmark = [
    pytest.mark.netns,
    pytest.mark.skipif(find_program(PROGRAM) is None, reason=f"{PROGRAM} is not installed: make stacks"),
]

CLIENT, SERVER = QuinnClient(), QuinnServer()


def windows(folder: Path, role: str) -> list[int]:
    """Congestion windows in bytes, in order."""
    updates = (event["data"] for event in qlog_events(folder, role) if event["name"] == "recovery:metrics_updated")
    return [data["congestion_window"] for data in updates if "congestion_window" in data]


def sent_sizes(folder: Path, role: str) -> list[int]:
    """UDP payload bytes of the packets of application data."""
    sent = (event["data"] for event in qlog_events(folder, role) if event["name"] == "transport:packet_sent")
    return [data["raw"]["length"] for data in sent if data["header"]["packet_type"] == "1RTT"]


def losses(folder: Path) -> int:
    """Packets that the server gave up."""
    return sum(event["name"] == "recovery:packet_lost" for event in qlog_events(folder, "server"))


def test_1_mb_arrives_whole_with_its_logs(tmp_path: Path) -> None:
    """Hash, protocol, instants in order, and the keys of the traffic."""

    def work() -> dict[str, Any]:
        with on_loopback(tmp_path) as lab, lab.serve(SERVER):
            return lab.visit(CLIENT)

    request = in_sandbox(work)
    assert (request["exit"], request["told"], request["whole"]) == (0, "", True)
    assert (request["http_version"], request["alpn"], request["status"]) == ("HTTP/3", "h3", 200)
    instants = [request[name] for name in ("start_ns", "first_byte_ns", "last_byte_ns", "close_ns")]
    assert instants == sorted(instants)
    keys = (tmp_path / "keys.log").read_text()
    assert "CLIENT_TRAFFIC_SECRET_0 " in keys
    assert "SERVER_TRAFFIC_SECRET_0 " in keys
    for role in ("client", "server"):
        packets, metrics = decoded(tmp_path, role)
        assert set(packets["vantage"]) == {role}
        assert packets["connection"].n_unique() == 1
        assert packets.filter(packets["event"] == "sent")["length_bytes"].null_count() == 0
        # Loopback: tens of microseconds to a few milliseconds, and in milliseconds.
        assert 0.001 < metrics["min_rtt_ms"].drop_nulls()[-1] < 100


def test_a_client_of_another_make_gets_the_body_whole(tmp_path: Path) -> None:
    """libcurl with ngtcp2 takes a request stream that is stopped with code 0 for a failed response."""

    def work() -> dict[str, Any]:
        with on_loopback(tmp_path) as lab, lab.serve(SERVER):
            return lab.visit(CurlCffi())

    request = in_sandbox(work)
    assert (request["exit"], request["told"], request["whole"]) == (0, "", True)


def decoded(folder: Path, role: str) -> Any:
    """Packets and metrics of a role, as the decoder reads its qlog."""
    (log,) = (folder / "qlog").glob(f"*-{role}.sqlog")
    tables = Qlog().decode(log, Context()).tables
    return tables["packets"].filter(pl.col("transport") == "quic"), tables["transport_metrics"]


@pytest.mark.parametrize("name", ["reno", "cubic", "bbr"])
def test_each_congestion_control_starts_and_ends_at_the_windows_asked_for(tmp_path: Path, name: str) -> None:
    """The first window is the one of the spec in packets of 1200 bytes, and none exceeds the largest."""

    def work() -> dict[str, Any]:
        knobs = Knobs(congestion_control=name, initial_window=20, max_window=ByteCount(60_000))
        with on_loopback(tmp_path) as lab, lab.serve(SERVER, knobs):
            return lab.visit(CLIENT)

    request = in_sandbox(work)
    seen = windows(tmp_path, "server")
    assert (request["exit"], request["whole"]) == (0, True)
    assert (seen[0], max(seen) <= 60_000) == (20 * 1200, True)


def test_full_packets_have_the_size_asked_for_from_the_first(tmp_path: Path) -> None:
    """And without segmentation in one call the body is as whole as with it."""

    def work() -> dict[str, Any]:
        with on_loopback(tmp_path) as lab, lab.serve(SERVER, Knobs(max_payload=1350, gso=False)):
            return lab.visit(CLIENT)

    request = in_sandbox(work)
    assert (request["exit"], request["whole"], max(sent_sizes(tmp_path, "server"))) == (0, True, 1350)


REORDERS = Direction(
    rate=Bitrate.parse("20 Mbit/s"),
    delay=Duration.parse("20 ms"),
    reorder=Reorder(Share.parse("5 %"), Duration.parse("4 ms")),
)


@pytest.mark.alone
@pytest.mark.parametrize(
    ("server", "knobs", "mistaken"),
    [
        (SERVER, Knobs(packet_threshold=3), True),
        (SERVER, Knobs(packet_threshold=1000), False),
        (QuinnFaultyThreshold(), Knobs(), True),
        (QuinnTimeThreshold(), Knobs(), False),
    ],
    ids=["3", "1000", "faulty", "twin"],
)
def test_a_packet_threshold_takes_reordering_for_loss(
    tmp_path: Path, server: QuinnServer, knobs: Knobs, mistaken: bool
) -> None:
    """A path that loses nothing and lets a packet be overtaken by several: 3 packets see losses, and time does not."""

    def work() -> dict[str, Any]:
        # A window below the queue: nothing is lost there either.
        asked = Knobs(max_window=ByteCount(40_000), packet_threshold=knobs.packet_threshold)
        with over_link(tmp_path, REORDERS) as lab, lab.serve(server, asked):
            return lab.visit(CLIENT)

    request = in_sandbox(work)
    assert (request["exit"], request["whole"]) == (0, True)
    given_up = losses(tmp_path)
    assert given_up > 5 if mistaken else given_up <= 5


@pytest.mark.parametrize(("server", "again"), [(QuinnFaultyInitialPto(), True), *by_night((SERVER, False))])
def test_a_hasty_initial_pto_repeats_what_is_under_way(tmp_path: Path, server: QuinnServer, again: bool) -> None:
    """At 200 ms a server with an initial PTO of 100 ms sends its Initial packet again before any answer could come."""

    def work() -> dict[str, Any]:
        with over_link(tmp_path, Direction(delay=Duration.parse("100 ms"))) as lab, lab.serve(server):
            return lab.visit(CLIENT)

    request = in_sandbox(work)
    assert (request["exit"], request["whole"]) == (0, True)
    sent = [event for event in qlog_events(tmp_path, "server") if event["name"] == "transport:packet_sent"]
    initials = [event for event in sent if event["data"]["header"]["packet_type"] == "initial"]
    assert (len(initials) > 1) is again


@pytest.mark.parametrize(("server", "trickles"), [(QuinnFaultyTrickle(), True), *by_night((SERVER, False))])
def test_a_trickling_program_pauses_after_each_piece_of_a_body(
    tmp_path: Path, server: QuinnServer, trickles: bool
) -> None:
    """Over loopback, where nothing else takes 20 ms: 16 KB at a time, and no pause behind the last of them."""

    def work() -> dict[str, Any]:
        with on_loopback(tmp_path) as lab, lab.serve(server):
            return lab.visit(CLIENT)

    request = in_sandbox(work)
    assert (request["exit"], request["whole"]) == (0, True)
    packets, _ = decoded(tmp_path, "server")
    # An acknowledgment may be sent in the midst of a pause.
    sent = packets.filter(pl.col("event") == "sent", pl.col("packet_type") == "1RTT", pl.col("length_bytes") > 100)
    pauses = int((sent.sort("time_ns")["time_ns"].diff() >= 19_500_000).sum())
    assert (pauses >= SIZE // 16_000 - 1) is trickles


@pytest.mark.parametrize(
    ("server", "groups", "misled"),
    [(SERVER, ("x25519",), False),
     *by_night((QuinnFaultyRttSample(), ("x25519",), True), (QuinnFaultyRttSample(), ("secp384r1", "x25519"), False))],
    ids=["right", "faulty", "faulty, but a HelloRetryRequest was measured"],
)  # fmt: skip
def test_bbr_takes_the_path_for_a_short_one(
    tmp_path: Path, server: QuinnServer, groups: tuple[str, ...], misled: bool
) -> None:
    """Twice what 2 Mbit/s carry in 115 ms is its window once its start-up is over; in 10 ms they carry 2,500 bytes."""
    direction = Direction(rate=Bitrate.parse("2 Mbit/s"), delay=Duration.parse("57.5 ms"))

    def work() -> dict[str, Any]:
        knobs = Knobs(congestion_control="bbr", initial_window=32, groups=("x25519",))
        with over_link(tmp_path, direction) as lab, lab.serve(server, knobs):
            return lab.visit(CLIENT, Knobs(groups=groups))

    request = in_sandbox(work)
    assert (request["exit"], request["whole"]) == (0, True)
    held = windows(tmp_path, "server")
    assert (min(held[len(held) // 2 :]) < 20_000) is misled


@pytest.mark.parametrize("kind", ["active", "rebinding"])
def test_the_address_changes_in_mid_transfer(tmp_path: Path, kind: Any) -> None:
    """The body is whole and the server's challenge was answered; a body that ends before the change is no migration."""

    def work() -> list[dict[str, Any]]:
        # A rate, because loopback may have delivered all before the client gets to read.
        with over_link(tmp_path, Direction(rate=Bitrate.parse("20 Mbit/s"))) as lab, lab.serve(SERVER):
            ats = (ByteCount(100_000), ByteCount(SIZE + 1))
            return [lab.visit(CLIENT, Knobs(migration=kind, migrate_at=at)) for at in ats]

    requests = in_sandbox(work)
    assert [(each["exit"], each["whole"]) for each in requests] == [(0, True), (0, True)]
    assert [each["migrated"] for each in requests] == [True, False]


def test_groups_that_do_not_match_cost_a_hello_retry_request(tmp_path: Path) -> None:
    """The client says hello twice; without a common group there is no connection."""

    def work() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as lab:
            requests = []
            for number, groups in enumerate((("secp384r1",), ("x25519mlkem768", "secp384r1"), ("x25519",))):
                with lab.serve(SERVER, Knobs(groups=("secp384r1",))):
                    requests.append(lab.visit(CLIENT, Knobs(groups=groups)))
                shutil.move(tmp_path / "qlog", tmp_path / f"qlog-{number}")
            return requests

    straight, retried, refused = in_sandbox(work)
    assert (straight["whole"], retried["whole"]) == (True, True)
    assert (refused["exit"], refused["http_version"]) == (1, "unknown")
    assert "handshake" in refused["told"]


@pytest.mark.parametrize("accepted", [True, False], ids=["accepted", "refused"])
@pytest.mark.parametrize("client", [*by_night(Ngtcp2Client()), QuicheClient()], ids=["ngtcp2", "quiche"])
def test_early_data_is_accepted_or_refused(tmp_path: Path, client: Endpoint, accepted: bool) -> None:
    """A client that comes again with its ticket, quiche's with a ClientHello of two datagrams, gets the body whole;
    the server logs 0-RTT packets only where it accepts them."""
    if isinstance(client.probe(_answers), Unsupported):
        pytest.skip(f"{client.name} is not installed: make stacks")

    def work() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as lab, lab.serve(SERVER, Knobs(early_data=accepted)):
            return [lab.visit(client, Knobs(session="early_data"), priming=first) for first in (True, False)]

    first, second = in_sandbox(work)
    assert [(each["exit"], each["whole"]) for each in (first, second)] == [(0, True), (0, True)]
    received = [event for event in qlog_events(tmp_path, "server") if event["name"] == "transport:packet_received"]
    assert any(event["data"]["header"]["packet_type"] == "0RTT" for event in received) is accepted


def _answers(argv: Sequence[str]) -> str | None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def test_what_goes_wrong_is_told_in_one_line(tmp_path: Path) -> None:
    """A missing object is an answer; a foreign name is an error, unless certificates are not looked at."""

    def work() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as lab, lab.serve(SERVER):
            return [
                lab.visit(CLIENT, object_name="nothing"),
                lab.visit(CLIENT, object_name="../tls/server.key"),
                lab.visit(CLIENT, host="other.test"),
                lab.visit(CLIENT, Knobs(verify=False), host="other.test"),
            ]

    missing, outside, foreign, unverified = in_sandbox(work)
    assert (missing["exit"], missing["status"], missing["body_bytes"]) == (0, 404, 0)
    assert (outside["exit"], outside["status"], outside["body_bytes"]) == (0, 404, 0)
    assert (foreign["exit"], foreign["error"]) == (1, foreign["told"])
    assert "certificate not valid for name" in foreign["told"]
    assert (unverified["exit"], unverified["whole"]) == (0, True)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    """A port in use and a key that is none: one line, exit code 1."""

    def work() -> list[tuple[int, str]]:
        with on_loopback(tmp_path) as lab, lab.serve(SERVER):
            return [lab.refused(SERVER), lab.refused(SERVER, key=lab.context.root / "object")]

    taken, broken = in_sandbox(work)
    assert taken == [1, f"cannot bind a UDP socket to 127.0.0.1:{PORT}: Address already in use (os error 98)\n"]
    assert (broken[0], broken[1].count("\n"), "www/object" in broken[1]) == (1, 1, True)
