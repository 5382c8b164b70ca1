# SPDX-License-Identifier: Apache-2.0
"""quiche's client against quiche's server: both programs as they are, over a loopback of their own."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from live_link import in_sandbox
from live_programs import ADDRESS, PATIENCE_S, PORT, SIZE, on_loopback, qlog_events

from quiclab.lab.endpoints._quiche import PROGRAM
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints.clients.quiche import QuicheClient
from quiclab.lab.endpoints.servers.quiche import QuicheServer
from quiclab.model.study import Knobs
from quiclab.model.units import ByteCount

pytestmark = [
    pytest.mark.netns,
    pytest.mark.skipif(find_program(PROGRAM) is None, reason=f"{PROGRAM} is not installed: make stacks"),
]

CLIENT, SERVER = QuicheClient(), QuicheServer()


def frames(folder: Path, role: str, direction: str) -> list[str]:
    """Types of the frames in the qlog of the last connection of a role, in order."""
    packets = (event["data"] for event in qlog_events(folder, role) if event["name"] == f"quic:packet_{direction}")
    return [frame["frame_type"] for packet in packets for frame in packet.get("frames", [])]


def test_1_mb_arrives_whole_with_its_logs(tmp_path: Path) -> None:
    """Hash, protocol, instants in order, qlog of both ends, and the keys of the traffic."""

    def work() -> dict[str, Any]:
        with on_loopback(tmp_path) as here, here.serve(SERVER):
            return here.visit(CLIENT)

    request = in_sandbox(work)
    assert (request["exit"], request["told"], request["whole"]) == (0, "", True)
    assert (request["http_version"], request["alpn"], request["status"]) == ("HTTP/3", "h3", 200)
    instants = [request[name] for name in ("start_ns", "first_byte_ns", "last_byte_ns", "close_ns")]
    assert instants == sorted(instants)
    assert (request["resumed"], request["early_data"]) == (False, "not_offered")
    assert "handshake_done" in frames(tmp_path, "client", "received")
    assert "handshake_done" in frames(tmp_path, "server", "sent")
    keys = (tmp_path / "keys.log").read_text()
    assert "CLIENT_TRAFFIC_SECRET_0 " in keys
    assert "SERVER_TRAFFIC_SECRET_0 " in keys


@pytest.mark.parametrize(
    ("session", "accepted", "expected"),
    [
        ("resumed", True, "not_offered"),
        ("early_data", True, "accepted"),
        ("early_data", False, "rejected"),
    ],
)
def test_a_second_visit_with_the_ticket_of_the_first(
    tmp_path: Path, session: Any, accepted: bool, expected: str
) -> None:
    """Resumed; and the request in 0-RTT only where it was asked for, which the server accepts or refuses."""

    def work() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as here, here.serve(SERVER, Knobs(early_data=accepted)):
            knobs = Knobs(session=session)
            return [here.visit(CLIENT, knobs, priming=True), here.visit(CLIENT, knobs)]

    first, second = in_sandbox(work)
    assert (first["exit"], first["resumed"]) == (0, False)
    assert (second["exit"], second["told"], second["whole"]) == (0, "", True)
    assert (second["resumed"], second["early_data"]) == (True, expected)


@pytest.mark.parametrize("kind", ["active", "rebinding"])
def test_the_address_changes_in_mid_transfer(tmp_path: Path, kind: Any) -> None:
    """The body is whole, and the new path was challenged: by the client first where it migrates by itself."""

    def work() -> dict[str, Any]:
        with on_loopback(tmp_path) as here, here.serve(SERVER):
            return here.visit(CLIENT, Knobs(migration=kind, migrate_at=ByteCount(100_000)))

    request = in_sandbox(work)
    assert (request["exit"], request["whole"]) == (0, True)
    assert request["migrated"] is True
    asked, answered = ("sent", "received") if kind == "active" else ("received", "sent")
    assert "path_challenge" in frames(tmp_path, "client", asked)
    assert "path_response" in frames(tmp_path, "client", answered)


def test_a_body_that_ends_before_the_change_is_told(tmp_path: Path) -> None:
    """Not migrated, and the reason."""

    def work() -> dict[str, Any]:
        with on_loopback(tmp_path) as here, here.serve(SERVER):
            return here.visit(CLIENT, Knobs(migration="active", migrate_at=ByteCount(SIZE + 1)))

    request = in_sandbox(work)
    assert (request["exit"], request["migrated"]) == (0, False)
    assert "too short" in request["migration_failure"]


@pytest.mark.parametrize("name", ["reno", "cubic", "bbr2"])
def test_each_congestion_control_delivers(tmp_path: Path, name: str) -> None:
    """With segmentation in one call too, and with a body of another length than whole segments."""

    def work() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as here:
            requests = []
            for gso in (False, True):
                with here.serve(SERVER, Knobs(congestion_control=name, gso=gso)):
                    requests.append(here.visit(CLIENT))
            return requests

    assert [(request["exit"], request["whole"]) for request in in_sandbox(work)] == [(0, True), (0, True)]


def test_groups_that_do_not_match_cost_a_hello_retry_request(tmp_path: Path) -> None:
    """The client's first key share is of no use to the server; without a common group there is no connection."""

    def work() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as here, here.serve(SERVER, Knobs(groups=("secp384r1",))):
            groups = (("secp384r1",), ("x25519", "secp384r1"), ("x25519",))
            return [here.visit(CLIENT, Knobs(groups=each)) for each in groups]

    straight, retried, refused = in_sandbox(work)
    assert [each.get("hello_retry_request") for each in (straight, retried)] == [False, True]
    assert [each.get("tls_group") for each in (straight, retried)] == ["secp384r1", "secp384r1"]
    assert (refused["exit"], "TLS alert 40" in refused["told"]) == (1, True)


def test_what_goes_wrong_is_told_in_one_line(tmp_path: Path) -> None:
    """A missing object is an answer; a foreign name, a missing ticket and a silent port are errors with a reason."""

    def work() -> list[dict[str, Any]]:
        with on_loopback(tmp_path) as here, here.serve(SERVER):
            return [
                here.visit(CLIENT, object_name="nothing"),
                here.visit(CLIENT, host="other.test"),
                here.visit(CLIENT, Knobs(verify=False), host="other.test"),
                here.visit(CLIENT, Knobs(session="resumed")),
                here.visit(CLIENT, port=PORT + 1),
            ]

    missing, foreign, unverified, ticketless, silent = in_sandbox(work)
    assert (missing["exit"], missing["status"], missing["body_bytes"]) == (0, 404, 0)
    assert (foreign["exit"], foreign["error"]) == (1, foreign["told"])
    assert "certificate was not accepted: Hostname mismatch" in foreign["told"]
    assert (unverified["exit"], unverified["whole"]) == (0, True)
    assert (ticketless["exit"], "session file" in ticketless["told"]) == (1, True)
    assert (silent["exit"], "nothing listens" in silent["told"]) == (1, True)


def test_a_client_that_is_stopped_keeps_what_it_knows(tmp_path: Path) -> None:
    """The laboratory's SIGTERM, while nobody answers: a report with the reason, and a qlog with what was sent."""

    def work() -> list[Any]:
        with on_loopback(tmp_path) as here:
            silent = here.server.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with silent:
                silent.bind((ADDRESS, PORT))
                silent.settimeout(PATIENCE_S)
                client = here.start(CLIENT)
                assert client.stdin is not None
                client.stdin.write("go\n")
                client.stdin.flush()
                silent.recv(2000)
                client.terminate()
                told, _ = client.communicate(timeout=PATIENCE_S)
            return [told.strip(), client.returncode]

    told, code = in_sandbox(work)
    (request,) = json.loads((tmp_path / "client.json").read_text())["requests"]
    assert (code, request["error"]) == (1, told)
    assert "stopped before the answer" in told
    assert "crypto" in frames(tmp_path, "client", "sent")


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    """A port in use and a key that is none: one line, exit code 1."""

    def work() -> list[tuple[int, str]]:
        with on_loopback(tmp_path) as here, here.serve(SERVER):
            return [here.refused(SERVER), here.refused(SERVER, key=here.context.root / "object")]

    taken, broken = in_sandbox(work)
    assert taken == [1, f"cannot listen on UDP 127.0.0.1:{PORT}: Address already in use (os error 98)\n"]
    assert (broken[0], broken[1].count("\n"), "PEM" in broken[1]) == (1, 1, True)
