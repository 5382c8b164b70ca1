# SPDX-License-Identifier: Apache-2.0
"""What an arm sets on TCP, on a program or on a workload is seen in what its trials sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from small_study import quiclab, with_plain_logs
from stack_study import need, run_arms, spec_text

from quiclab.logs.decoders import Context
from quiclab.logs.decoders.pcapng import Pcapng
from quiclab.logs.decoders.tcp_info_tables import read_tcp_info_log

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def _raw(folder: Path, trial: dict[str, Any]) -> Path:
    assert trial["status"] == "verified", trial["reason"]
    return with_plain_logs(folder / "study" / "trials" / trial["trial_id"] / "raw")


def _payload_sizes(folder: Path, trial: dict[str, Any], sender: str) -> list[int]:
    """Bytes carried by each packet of one end, as the client's interface saw them."""
    packets = Pcapng().decode(_raw(folder, trial) / "client.pcapng", Context("client")).tables["ip_packets"]
    port = "dst_port" if sender == "client" else "src_port"
    return packets.filter(pl.col(port) == trial["server_port"])["payload_bytes"].to_list()


@pytest.mark.alone
@pytest.mark.parametrize("server", ["caddy", *by_night("nginx", "quic-go")])
def test_tcp_is_paced_whatever_the_server(tmp_path: Path, server: str) -> None:
    """The first window leaves at once, or over many looks at the connection: it is the same size."""
    need(("server", server))
    arm = f'protocol = "h2"\nclient = "curl-cffi"\nserver = "{server}"\ntcp = {{ congestion_control = "cubic"'
    arm += ", initial_window = 100, pacing = "
    found = run_arms(tmp_path, {"paced": arm + "true }", "burst": arm + "false }"}, size="1 MB", delay="100 ms")
    on_the_way = {}
    for name, trial in found.items():
        log = read_tcp_info_log(_raw(tmp_path, trial) / "server.tcpinfo")
        sent = log.samples.filter(log.samples["state"] == "ESTABLISHED")["bytes_sent"].unique()
        on_the_way[name] = sent.is_between(5_000, 60_000).sum()
    assert on_the_way["burst"] <= 1
    assert on_the_way["paced"] >= 3
    assert list(found["paced"]["host"]["tcp_pacing_limit_bytes_per_s"]) == ["client"]


def test_a_server_asks_for_fewer_acknowledgements(tmp_path: Path) -> None:
    """By ACK_FREQUENCY frames: the client sends a fraction of its packets, for the same object."""
    need(("client", "quinn"), ("server", "quinn"))
    arm = 'protocol = "h3"\nclient = "quinn"\nserver = {name = "quinn"'
    asked = ", peer_ack_frequency = 40, peer_ack_delay = "
    found = run_arms(
        tmp_path,
        {"own": arm + "}", "rare": arm + asked + '"20 ms"}', "late": arm + asked + '"1 ms"}'},
        size="2 MB",
    )
    packets = {name: len(_payload_sizes(tmp_path, trial, "client")) for name, trial in found.items()}
    assert packets["rare"] < packets["own"] / 3
    assert packets["rare"] < packets["late"], "the delay ends the wait before so many packets have come"


@pytest.mark.nightly
def test_a_client_holds_its_acknowledgements_back(tmp_path: Path) -> None:
    """By number or by time: it sends a fraction of its packets, and has announced the delay to the server."""
    need(("client", "quiche"), ("server", "quinn"))
    arm = 'protocol = "h3"\nserver = "quinn"\nclient = {name = "quiche"'
    found = run_arms(
        tmp_path,
        {
            "own": arm + "}",
            "tenth": arm + ', ack_frequency = 10, ack_delay = "100 ms"}',
            "rare": arm + ', ack_delay = "10 ms"}',
        },
        size="2 MB",
    )
    packets = {name: len(_payload_sizes(tmp_path, trial, "client")) for name, trial in found.items()}
    data = len([size for size in _payload_sizes(tmp_path, found["tenth"], "server") if size > 1000])
    assert data / 20 < packets["tenth"] < data / 5
    assert packets["rare"] < packets["own"] / 3
    announced = {name: trial["proof"]["quic_parameters_client"] for name, trial in found.items()}
    assert {name: each.get("max_ack_delay") for name, each in announced.items()} == {
        "own": 25,
        "tenth": 100,
        "rare": 10,
    }


@pytest.mark.nightly
def test_packets_grow_unless_they_may_not(tmp_path: Path) -> None:
    """By the largest UDP payload of a server that looks for the path's MTU, and of one that does not."""
    servers = ("quinn", "quic-go", "ngtcp2")
    need(*(("server", server) for server in servers))
    arm = 'protocol = "h3"\nclient = "curl-cffi"\nserver = {{name = "{}"{}}}'
    arms = {f"{server}-grows": arm.format(server, "") for server in servers}
    arms |= {f"{server}-stays": arm.format(server, ", path_mtu_discovery = false") for server in servers}
    # quic-go sends its first probe five smoothed round trips after the handshake, queue included.
    found = run_arms(tmp_path, arms, size="5 MB")
    largest = {arm: max(_payload_sizes(tmp_path, trial, "server")) for arm, trial in found.items()}
    for server in servers:
        assert largest[f"{server}-stays"] <= 1280 < largest[f"{server}-grows"], server


@pytest.mark.matrix
def test_quinn_marks_its_packets_unless_told_not_to(tmp_path: Path) -> None:
    """By the codepoints in the captures, each end for itself."""
    need(("client", "quinn"), ("server", "quinn"))
    off = ", ecn = false"
    arm = 'protocol = "h3"\nclient = {{name = "quinn"{}}}\nserver = {{name = "quinn"{}}}'
    found = run_arms(
        tmp_path, {"both": arm.format("", ""), "client": arm.format("", off), "server": arm.format(off, "")}
    )
    marked = {
        name: ["ect0" in trial["proof"][f"ecn_{end}"] for end in ("client", "server")] for name, trial in found.items()
    }
    assert marked == {"both": [True, True], "client": [True, False], "server": [False, True]}


@pytest.mark.nightly
def test_aioquic_sends_packets_of_the_size_and_waits_for_the_rtt_that_it_is_given(tmp_path: Path) -> None:
    """The largest UDP payload is the one asked for; a client whose first RTT is too short soon says hello again."""
    arm = 'protocol = "h3"\nclient = {{name = "aioquic"{}}}\nserver = {{name = "aioquic"{}}}'
    larger, hasty = ", max_payload = 1400", ', initial_rtt = "10 ms"'
    found = run_arms(
        tmp_path,
        {"own": arm.format("", ""), "larger": arm.format("", larger), "hasty": arm.format(hasty, "")},
        delay="50 ms",
    )
    largest = {name: max(_payload_sizes(tmp_path, trial, "server")) for name, trial in found.items()}
    assert largest == {"own": 1200, "larger": 1400, "hasty": 1200}
    hellos = {}
    for name, trial in found.items():
        (log,) = (_raw(tmp_path, trial) / "client-qlog").glob("*.qlog")
        events = json.loads(log.read_text())["traces"][0]["events"]
        names = [event["name"] for event in events]
        hellos[name] = names[: names.index("transport:packet_received")].count("transport:packet_sent")
    assert hellos["hasty"] > hellos["own"] == hellos["larger"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("proxy", "origin"),
    [
        ("nginx", "h1"),
        ("haproxy", "h2"),
        *by_night(("envoy", "h1"), ("haproxy", "h1"), ("envoy", "h2")),
    ],
)
def test_the_origins_connection_is_there_or_not(tmp_path: Path, proxy: str, origin: str) -> None:
    """Of the one that carried the object: seen before the client began, or not."""
    need(("proxy", proxy))  # type: ignore[arg-type]
    arm = f'protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\norigin_protocol = "{origin}"\n'
    arms = {
        name: arm + f'proxy = {{name = "{proxy}"{knob}}}'
        for name, knob in (
            ("own", ""),
            ("warm", ', origin_connection = "warm"'),
            ("cold", ', origin_connection = "cold"'),
        )
    }
    there = {}
    for name, trial in run_arms(tmp_path, arms, size="4 MB").items():
        rows = read_tcp_info_log(_raw(tmp_path, trial) / "origin.tcpinfo").samples
        carrier = rows.filter(rows["remote_port"] == rows.row(rows["bytes_sent"].arg_max(), named=True)["remote_port"])
        assert carrier["bytes_sent"].max() > 1_000_000
        there[name] = carrier["before_ns"].min() < trial["client"]["requests"][0]["start_ns"]
    assert there == {"own": True, "warm": True, "cold": False}


@pytest.mark.nightly
def test_an_implicit_acknowledgement_spoils_the_round_trip_of_the_faulty_server(tmp_path: Path) -> None:
    """Its probe leaves just before the client's answer comes: no round trip of its twin is shorter than the path's."""
    arm = 'protocol = "h3"\nclient = "curl-cffi"\nserver = {name = "aioquic'
    found = run_arms(
        tmp_path,
        {"twin": arm + '", initial_rtt = "50 ms"}', "faulty": arm + '-faulty-implicit-ack", initial_rtt = "50 ms"}'},
        delay="60 ms",
    )
    shortest = {}
    for name, trial in found.items():
        (log,) = (_raw(tmp_path, trial) / "server-qlog").glob("*.qlog")
        events = json.loads(log.read_text())["traces"][0]["events"]
        seen = [event["data"]["min_rtt"] for event in events if "min_rtt" in event["data"]]
        shortest[name] = min(seen)
    assert shortest["faulty"] < 120 <= shortest["twin"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("client", "front"),
    [
        ("curl", ("server", "caddy")),
        ("curl-cffi", ("proxy", "haproxy")),
        *by_night(
            *(("curl-cffi", ("server", name)) for name in ("caddy", "nginx")),
            *(("curl", front) for front in (("server", "nginx"), ("proxy", "nginx"), ("proxy", "haproxy"))),
            ("curl-cffi", ("proxy", "nginx")),
        ),
    ],
)
def test_compressed_text_takes_fewer_bytes_on_the_wire(tmp_path: Path, client: str, front: tuple[Any, str]) -> None:
    """And arrives as it was; random content of the same size is not made smaller by the same ends."""
    need(("client", client), front)
    role, name = front
    arm = 'protocol = "h3"\n' + ('server = "caddy"\n' if role == "proxy" else "")
    on = ", compression = true}"
    arms = {
        "plain": f'{arm}client = "{client}"\n{role} = "{name}"',
        "gzip": f'{arm}client = {{name = "{client}"{on}\n{role} = {{name = "{name}"{on}',
    }
    sent = {}
    for content in ("text", "random"):
        folder = tmp_path / content
        folder.mkdir()
        for arm_name, trial in run_arms(folder, arms, workload=f'content = "{content}"').items():
            sent[content, arm_name] = sum(_payload_sizes(folder, trial, "server"))
    # HAProxy's own compressor trades size for speed.
    assert sent["text", "gzip"] < sent["text", "plain"] * (0.96 if name == "haproxy" else 0.6)
    assert min(sent["text", "plain"], sent["random", "plain"], sent["random", "gzip"]) > 100_000


@pytest.mark.nightly
def test_an_object_is_of_the_type_that_the_spec_gives_it(tmp_path: Path) -> None:
    """As the client was told, by every server; a proxy passes it on."""
    servers = ("caddy", "nginx", "quic-go", "quiche", "quinn", "aioquic")
    need(("client", "curl"), ("proxy", "envoy"), *(("server", server) for server in servers))
    arms = {server: f'protocol = "h3"\nclient = "curl"\nserver = "{server}"' for server in servers}
    arms["behind"] = arms["nginx"] + '\nproxy = "envoy"'
    found = run_arms(tmp_path, arms, size="1 KB", workload='content_type = "image/svg+xml"')
    assert {name: trial["status"] for name, trial in found.items()} == dict.fromkeys(arms, "verified")
    types = {name: trial["client"]["requests"][0]["content_type"] for name, trial in found.items()}
    assert types == dict.fromkeys(arms, "image/svg+xml")


def test_what_a_peer_does_not_know_is_refused(tmp_path: Path) -> None:
    """A client without the extension would go on as it is, and nobody would see it."""
    spec = tmp_path / "spec.toml"
    asks = 'protocol = "h3"\nclient = "curl-cffi"\nserver = {name = "quinn", peer_ack_frequency = 10}'
    spec.write_text(
        spec_text({"asks": asks, "plain": 'protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"'}, "1 KB")
    )
    done = quiclab("run", spec, "--out", tmp_path / "study")
    assert done.returncode == 2
    assert "the client curl-cffi knows no ACK_FREQUENCY frames" in done.stderr


@pytest.mark.parametrize("front", ["nginx", *by_night("haproxy")])
def test_a_retry_is_sent_where_it_is_asked_for(tmp_path: Path, front: str) -> None:
    """The packets of the handshake have one, and none without the knob."""
    need(("client", "quic-go"), ("server", "nginx"), *([("proxy", "haproxy")] if front == "haproxy" else []))
    role = "proxy" if front == "haproxy" else "server"
    arm = 'protocol = "h3"\nclient = "quic-go"\n' + ('server = "nginx"\n' if role == "proxy" else "")
    arm += f'{role} = {{name = "{front}"'
    found = run_arms(tmp_path, {"own": arm + "}", "retry": arm + ", retry = true}"})
    assert {name: trial["proof"]["quic_retry"] for name, trial in found.items()} == {"own": False, "retry": True}


@pytest.mark.nightly
def test_nginx_announces_its_window_for_uploads(tmp_path: Path) -> None:
    """SETTINGS_INITIAL_WINDOW_SIZE is the size of http2_body_preread_size, of a proxy too."""
    need(("client", "quic-go"), ("server", "nginx"), ("proxy", "nginx"))
    arm = 'protocol = "h2"\nclient = "quic-go"\nserver = "nginx"\nproxy = {name = "nginx"'
    arms = {"own": arm + "}", "large": arm + ', upload_window = "1 MB"}'}
    found = run_arms(tmp_path, arms, workload='direction = "upload"')
    windows = {name: trial["proof"]["http_settings_server"]["initial_window_size"] for name, trial in found.items()}
    assert windows == {"own": 65_536, "large": 10**6}


@pytest.mark.nightly
def test_a_small_receive_buffer_of_nginx_drops_packets(tmp_path: Path) -> None:
    """Packets of an upload come to the server, and its socket has no room for them."""
    need(("client", "quic-go"), ("server", "nginx"))
    arm = 'protocol = "h3"\nclient = "quic-go"\nserver = {name = "nginx"'
    arms = {"own": arm + "}", "small": arm + ', udp_receive_buffer = "4 KB"}'}
    found = run_arms(tmp_path, arms, size="1 MB", workload='direction = "upload"')
    assert quiclab("report", tmp_path / "study").returncode == 0
    metrics = pl.read_parquet(tmp_path / "study" / "metrics.parquet").filter(pl.col("name") == "server_refused_packets")
    refused = dict(metrics.select("trial_id", "value").iter_rows())
    assert refused[found["own"]["trial_id"]] == 0
    assert refused[found["small"]["trial_id"]] > 10
