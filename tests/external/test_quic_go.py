# SPDX-License-Identifier: Apache-2.0
"""quic-go's client against its server, and Go's HTTP/2 beside it: the programs as they are, over a loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from live_link import in_sandbox
from live_programs import PORT, LivePrograms, on_loopback

from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints.clients.quic_go import QuicGoClient
from quiclab.lab.endpoints.servers.ngtcp2 import Ngtcp2Server
from quiclab.lab.endpoints.servers.quic_go import QuicGoServer
from quiclab.model.study import Knobs, Protocol
from quiclab.model.units import ByteCount

pytestmark = [
    pytest.mark.netns,
    pytest.mark.skipif(find_program("quiclab-quic-go") is None, reason="quiclab-quic-go is not installed: make stacks"),
]

CLIENT, SERVER = QuicGoClient(), QuicGoServer()
_CURVES = ("x25519mlkem768", "x25519", "secp256r1", "secp384r1")


def run(folder: Path, protocol: Protocol, work: Callable[[LivePrograms], Any]) -> Any:
    """Do it with both programs on a loopback of their own, and hand back what came of it."""

    def inside() -> Any:
        with on_loopback(folder, protocol) as here:
            return work(here)

    return in_sandbox(inside)


def qlog(folder: Path, side: str) -> list[dict[str, Any]]:
    """The events of the only connection's log on that side."""
    (file,) = (folder / "qlog").glob(f"*_{side}.sqlog")
    records = [json.loads(record) for record in file.read_text().split("\x1e")[1:]]
    return [record for record in records if "name" in record]


def packets(folder: Path, side: str, direction: str) -> list[dict[str, Any]]:
    """Packets that a side sent or received, in order."""
    return [event["data"] for event in qlog(folder, side) if event["name"] == f"transport:packet_{direction}"]


def frames(folder: Path, side: str, direction: str) -> list[str]:
    """Types of their frames."""
    return [frame["frame_type"] for packet in packets(folder, side, direction) for frame in packet.get("frames", [])]


def parameters(folder: Path, side: str) -> dict[str, Any]:
    """The transport parameters that a side sent."""
    sent = (event["data"] for event in qlog(folder, side) if event["name"] == "transport:parameters_set")
    return next(each for each in sent if each["initiator"] == "local")


@pytest.mark.parametrize(("protocol", "version"), [("h2", "HTTP/2"), ("h3", "HTTP/3")])
def test_1_mb_arrives_whole_with_its_keys(tmp_path: Path, protocol: Protocol, version: str) -> None:
    """Hash, protocol, instants in order, the keys of the traffic, and a server that SIGTERM ends in good order."""

    def work(here: LivePrograms) -> list[Any]:
        with here.serve(SERVER) as server:
            request = here.visit(CLIENT)
        return [request, server.returncode]

    request, ended = run(tmp_path, protocol, work)
    assert ended == 0
    assert (request["exit"], request["told"], request["whole"], request["status"]) == (0, "", True, 200)
    assert (request["http_version"], request["alpn"], request["resumed"]) == (version, protocol, False)
    assert request["congestion_control"] == ("reno" if protocol == "h3" else None)
    instants = [request[name] for name in ("start_ns", "first_byte_ns", "last_byte_ns", "close_ns")]
    assert instants == sorted(instants)
    keys = (tmp_path / "keys.log").read_text()
    assert "CLIENT_TRAFFIC_SECRET_0 " in keys
    assert "SERVER_TRAFFIC_SECRET_0 " in keys


@pytest.mark.parametrize("protocol", ["h3", *by_night("h2")])
def test_ipv6(tmp_path: Path, protocol: Protocol) -> None:
    """Both ends on ::1."""

    def work(here: LivePrograms) -> dict[str, Any]:
        ipv6: dict[str, Any] = {"ip_version": 6, "address": "::1"}
        with here.serve(SERVER, **ipv6):
            return here.visit(CLIENT, **ipv6)

    assert run(tmp_path, protocol, work)["whole"]


def test_both_ends_write_whole_qlogs(tmp_path: Path) -> None:
    """Every line is a record, to the closing of the connection, and none is written without a folder."""

    def work(here: LivePrograms) -> None:
        with here.serve(SERVER):
            here.visit(CLIENT)
        with here.serve(SERVER, qlog_dir=None):
            here.visit(CLIENT, qlog_dir=None)

    run(tmp_path, "h3", work)
    for side in ("client", "server"):
        assert "handshake_done" in frames(tmp_path, side, "sent" if side == "server" else "received")
        assert "transport:connection_closed" in [event["name"] for event in qlog(tmp_path, side)]


@pytest.mark.parametrize(
    ("protocol", "session", "accepted", "expected"),
    [
        ("h2", "resumed", True, None),
        ("h3", "resumed", True, "not_offered"),
        ("h3", "early_data", True, "accepted"),
        ("h3", "early_data", False, "rejected"),
    ],
)
def test_a_second_visit_with_the_ticket_of_the_first(
    tmp_path: Path, protocol: Protocol, session: Any, accepted: bool, expected: str | None
) -> None:
    """Resumed; and the request in 0-RTT only where it was asked for, which the server accepts or refuses."""

    def work(here: LivePrograms) -> list[dict[str, Any]]:
        with here.serve(SERVER, Knobs(early_data=accepted)):
            knobs = Knobs(session=session)
            first = here.visit(CLIENT, knobs, priming=True, qlog_dir=None)
            return [first, *(here.visit(CLIENT, knobs) for _ in range(3 if expected == "rejected" else 1))]

    first, *later = run(tmp_path, protocol, work)
    assert (first["exit"], first["resumed"]) == (0, False)
    for second in later:
        assert (second["exit"], second["told"], second["whole"]) == (0, "", True)
        assert (second["resumed"], second.get("early_data")) == (True, expected)
    if expected == "accepted":
        types = [packet["header"]["packet_type"] for packet in packets(tmp_path, "client", "sent")]
        assert "0RTT" in types


@pytest.mark.skipif(find_program("gtlsserver") is None, reason="gtlsserver is not installed: make stacks")
def test_a_server_that_looks_at_the_age_of_a_ticket_takes_early_data(tmp_path: Path) -> None:
    """GnuTLS leaves early data whose ticket the client says to be older than it can be (RFC 8446 section 8.3)."""

    def inside() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as here, here.serve(Ngtcp2Server(), orderly=False):
            knobs = Knobs(session="early_data")
            here.visit(CLIENT, knobs, priming=True)
            return [here.visit(CLIENT, knobs) for _ in range(3)]

    assert [each["early_data"] for each in in_sandbox(inside)] == ["accepted"] * 3


def test_tls_1_2_is_resumed_too(tmp_path: Path) -> None:
    """Its tickets come within the handshake."""

    def work(here: LivePrograms) -> list[dict[str, Any]]:
        with here.serve(SERVER, Knobs(tls_version="1.2")):
            return [here.visit(CLIENT, Knobs(session="resumed"), priming=priming) for priming in (True, False)]

    assert [(each["exit"], each["resumed"]) for each in run(tmp_path, "h2", work)] == [(0, False), (0, True)]


@pytest.mark.parametrize("kind", ["active", "rebinding"])
def test_the_address_changes_in_mid_transfer(tmp_path: Path, kind: Any) -> None:
    """The body is whole, and the new path was challenged: by the client first where it migrates by itself."""

    def work(here: LivePrograms) -> dict[str, Any]:
        with here.serve(SERVER):
            return here.visit(CLIENT, Knobs(migration=kind, migrate_at=ByteCount(100_000)))

    request = run(tmp_path, "h3", work)
    assert (request["exit"], request["whole"], request["migrated"]) == (0, True, True)
    asked, answered = ("sent", "received") if kind == "active" else ("received", "sent")
    assert "path_challenge" in frames(tmp_path, "client", asked)
    assert "path_response" in frames(tmp_path, "client", answered)


def test_a_body_that_ends_before_the_change_is_told(tmp_path: Path) -> None:
    """Not migrated, and the reason."""

    def work(here: LivePrograms) -> dict[str, Any]:
        with here.serve(SERVER):
            return here.visit(CLIENT, Knobs(migration="active", migrate_at=ByteCount(2_000_000)))

    request = run(tmp_path, "h3", work)
    assert (request["exit"], request["migrated"]) == (0, False)
    assert "too short" in request["migration_failure"]


def test_knobs_are_seen_in_parameters_and_packets(tmp_path: Path) -> None:
    """Windows and stream limit as transport parameters, and no datagram larger than asked."""

    def work(here: LivePrograms) -> dict[str, Any]:
        with here.serve(SERVER, Knobs(max_streams=7, max_payload=1300, gso=False)):
            return here.visit(
                CLIENT, Knobs(max_payload=1210, stream_window=ByteCount(70_000), connection_window=ByteCount(90_000))
            )

    assert run(tmp_path, "h3", work)["whole"]
    client, server = parameters(tmp_path, "client"), parameters(tmp_path, "server")
    assert (client["initial_max_stream_data_bidi_local"], client["initial_max_data"]) == (70_000, 90_000)
    assert server["initial_max_streams_bidi"] == 7
    for side, most in (("client", 1210), ("server", 1300)):
        assert max(packet["raw"]["length"] for packet in packets(tmp_path, side, "sent")) == most


@pytest.mark.parametrize("protocol", ["h3", *by_night("h2")])
def test_groups_that_do_not_match_cost_a_hello_retry_request(tmp_path: Path, protocol: Protocol) -> None:
    """The client's first key share is of no use to the server; without a common group there is no connection."""

    def work(here: LivePrograms) -> list[dict[str, Any]]:
        with here.serve(SERVER, Knobs(groups=("secp384r1",))):
            asked = (_CURVES[3:], ("x25519", "secp384r1"), ("x25519",))
            return [here.visit(CLIENT, Knobs(groups=groups)) for groups in asked]

    straight, retried, refused = run(tmp_path, protocol, work)
    assert [each["hello_retry_request"] for each in (straight, retried)] == [False, True]
    assert [each["tls_group"] for each in (straight, retried)] == ["secp384r1", "secp384r1"]
    assert (refused["exit"], "handshake failure" in refused["told"]) == (1, True)


@pytest.mark.parametrize("group", [_CURVES[0], *by_night(*_CURVES[1:])])
def test_each_group_can_be_had(tmp_path: Path, group: str) -> None:
    """Alone on the client, chosen by a server that has all."""

    def work(here: LivePrograms) -> dict[str, Any]:
        with here.serve(SERVER, Knobs(groups=_CURVES)):
            return here.visit(CLIENT, Knobs(groups=(group,)))

    assert run(tmp_path, "h3", work)["tls_group"] == group


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_what_goes_wrong_is_told_in_one_line(tmp_path: Path, protocol: Protocol) -> None:
    """A missing object is an answer; a foreign name and a missing ticket are errors with a reason."""

    def work(here: LivePrograms) -> list[dict[str, Any]]:
        with here.serve(SERVER):
            return [
                here.visit(CLIENT, object_name="nothing"),
                here.visit(CLIENT, object_name="../keys.log"),
                here.visit(CLIENT, host="other.test"),
                here.visit(CLIENT, Knobs(verify=False), host="other.test"),
                here.visit(CLIENT, Knobs(session="resumed")),
            ]

    missing, outside, foreign, unverified, ticketless = run(tmp_path, protocol, work)
    for absent in (missing, outside):
        assert (absent["exit"], absent["status"], absent["body_bytes"]) == (0, 404, 0)
    assert (foreign["exit"], foreign["error"]) == (1, foreign["told"])
    assert "certificate" in foreign["told"]
    assert (unverified["exit"], unverified["whole"]) == (0, True)
    assert (ticketless["exit"], "no session to resume" in ticketless["told"]) == (1, True)


@pytest.mark.parametrize("protocol", ["h3", *by_night("h2")])
def test_a_server_that_cannot_start_says_why(tmp_path: Path, protocol: Protocol) -> None:
    """A port in use and a key that is none: one line, exit code 1."""

    def work(here: LivePrograms) -> list[Any]:
        with here.serve(SERVER):
            taken = here.refused(SERVER)
        return [taken, here.refused(SERVER, key=here.context.root / "object")]

    taken, broken = run(tmp_path, protocol, work)
    assert (taken[0], taken[1].count("\n"), f"127.0.0.1:{PORT}" in taken[1]) == (1, 1, True)
    assert "address already in use" in taken[1]
    assert (broken[0], broken[1].count("\n"), "key" in broken[1]) == (1, 1, True)


def test_a_job_that_cannot_be_done_is_refused(tmp_path: Path) -> None:
    """What the endpoint would have refused is refused by the program as well, with another exit code."""

    def work(here: LivePrograms) -> list[Any]:
        return list(here.refused(CLIENT, Knobs(congestion_control="bbr")))

    code, told = run(tmp_path, "h3", work)
    assert (code, told) == (2, 'quic-go\'s congestion control is reno only, not "bbr"\n')
