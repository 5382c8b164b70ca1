# SPDX-License-Identifier: Apache-2.0
"""The quiche endpoints and the job file that all programs around a library share."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import contexts
import pytest

from quiclab.lab.endpoints._api import Available, Unsupported
from quiclab.lab.endpoints.clients.quiche import QuicheClient
from quiclab.lab.endpoints.servers.quiche import QuicheServer
from quiclab.model.study import Knobs, Program, Tcp
from quiclab.model.units import ByteCount, Duration

WORK = contexts.WORK
CONTEXT = replace(contexts.CONTEXT, program=Program("quiche"), ip_version=6, address="fd77::2", port=8443, keylog=None)
VALUES = Knobs(
    congestion_control="reno",
    initial_window=32,
    pacing=False,
    hystart=False,
    connection_window=ByteCount(100_000),
    stream_window=ByteCount(50_000),
    max_streams=1,
    groups=("secp256r1",),
    session="resumed",
    early_data=True,
    ack_delay=Duration(40_000_000),
    ack_frequency=10,
    initial_rtt=Duration(100_000_000),
    gso=True,
    max_payload=1350,
    scheduler="round_robin",
    verify=False,
    migration="active",
    migrate_at=ByteCount(1000),
)
"""Not the default of any knob that quiche has."""


def _job(endpoint: QuicheClient | QuicheServer, knobs: Knobs, **changes: Any) -> dict[str, Any]:
    context = replace(CONTEXT, program=Program("quiche", knobs=knobs), **changes)
    (text,) = endpoint.command(context).files.values()
    job: dict[str, Any] = json.loads(text)
    return job


@pytest.mark.parametrize("endpoint", [QuicheClient(), QuicheServer()], ids=lambda endpoint: endpoint.role)
def test_every_declared_knob_reaches_the_job(endpoint: QuicheClient | QuicheServer) -> None:
    """A knob that is promised in plans changes what the program is told."""
    default = _job(endpoint, Knobs())
    # It takes a workload that changes the address: test_address_change.py.
    for knob in endpoint.knobs["h3"] - {"on_address_change"}:
        changed = _job(endpoint, replace(Knobs(), **{knob: getattr(VALUES, knob)}))
        different = {key for key in changed if changed[key] != default[key]}
        assert [key.startswith(knob) for key in different] == [True], knob


def test_the_clients_job_is_complete() -> None:
    """Address and name apart, units in the names, and null for the library's own."""
    knobs = Knobs(initial_rtt=Duration(5), migration="active", migrate_at=ByteCount(7), groups=("x25519",))
    job = _job(QuicheClient(), knobs, priming=True)
    assert (job["url"], job["address"], job["port"]) == ("https://server.test:8443/1MB", "fd77::2", 8443)
    assert (job["host"], job["protocol"], job["session"]) == ("server.test", "h3", "fresh")
    assert (job["initial_rtt_ns"], job["migrate_at_bytes"], job["groups"]) == (5, 7, ["x25519"])
    assert (job["priming"], job["verify"], job["session_file"]) == (True, True, str(WORK / "session"))
    assert (job["keylog"], job["ack_delay_ns"], job["congestion_control"]) == (None, None, None)


def test_the_servers_job_is_complete() -> None:
    """A socket address with brackets, the protocols, and 0-RTT refused unless it is asked for."""
    job = _job(QuicheServer(), Knobs(max_streams=3))
    assert (job["listen"], job["protocols"], job["early_data"]) == ("[fd77::2]:8443", ["h3"], False)
    assert (job["root"], job["max_streams"], job["qlog_dir"]) == ("/lab/www", 3, "/lab/trial/raw/qlog")
    command = QuicheServer().command(CONTEXT)
    assert command.sockets == ("udp",)
    assert command.argv[-2:] == ("server", str(WORK / "quiche-server.json"))


def test_a_zero_that_is_asked_for_is_not_lost() -> None:
    """Nothing and null are different."""
    knobs = Knobs(ack_delay=Duration(0), migrate_at=ByteCount(0), max_window=ByteCount(0))
    job = _job(QuicheClient(), knobs)
    assert (job["ack_delay_ns"], job["migrate_at_bytes"], job["max_window_bytes"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("knobs", "reason"),
    [
        (Knobs(congestion_control="bbr"), "ask for bbr2"),
        (Knobs(congestion_control="vegas"), "one of reno, cubic, bbr2"),
        (Knobs(pacing=True), "paces bbr2 only, not cubic"),
        (Knobs(ack_delay=Duration.parse("20 s")), "ack_delay must be shorter than 16.384 s"),
        (Knobs(hystart=True, congestion_control="bbr2"), "no hystart"),
        (Knobs(max_payload=1199), "from 1200"),
    ],
)
def test_values_that_cannot_be_had(knobs: Knobs, reason: str) -> None:
    """What the library would ignore or refuse is refused when the plan is made."""
    assert reason in (QuicheServer().unsupported(Program("quiche", knobs=knobs), "h3") or "")


def test_values_that_can_be_had() -> None:
    """The same knobs with values of quiche."""
    for knobs in (Knobs(), VALUES, Knobs(congestion_control="bbr2", pacing=True), Knobs(pacing=False)):
        assert QuicheServer().unsupported(Program("quiche", knobs=knobs), "h3") is None


def test_an_older_release_paces_all_and_has_no_initial_rtt() -> None:
    """Both are told of 0.22.0, and the other way round of the current release."""
    server, paced = QuicheServer(), Knobs(congestion_control="cubic", pacing=True)
    then, now = (Program("quiche", version=version, knobs=paced) for version in ("0.22.0", "0.30.0"))
    assert server.unsupported(then, "h3") is None
    assert "paces bbr2 only" in (server.unsupported(now, "h3") or "")
    assert server.traits(then, "h3", Tcp("reno"))["pacing"] == "paced"
    assert server.own_values(replace(then, knobs=Knobs()), "h3")["pacing"] is True
    for endpoint in (server, QuicheClient()):
        asked = replace(then, knobs=Knobs(initial_rtt=Duration(10**8)))
        assert "has no initial_rtt here, only from 0.24.5 on" in (endpoint.unsupported(asked, "h3") or "")
        assert endpoint.unsupported(replace(asked, version="0.30.0"), "h3") is None


def test_facts_follow_the_knobs() -> None:
    """quiche paces bbr2 and nothing else."""
    pacing = {}
    for name in ("reno", "cubic", "bbr2", None):
        facts = QuicheServer().traits(Program("quiche", knobs=Knobs(congestion_control=name)), "h3", Tcp("reno"))
        pacing[facts["congestion_control"]] = facts["pacing"]
    assert pacing == {
        "quiche reno with beta 0.5": "not paced",
        "quiche cubic with beta 0.7": "not paced",
        "quiche bbr2": "paced",
    }
    set_window = Knobs(stream_window=ByteCount(65536))
    facts = QuicheClient().traits(Program("quiche", knobs=set_window), "h3", Tcp("reno"))
    assert "stream window 64 KiB, connection window 10 MB" in facts["receive_window"]


def test_the_version_is_the_librarys(tmp_path: Path) -> None:
    """A program below a prefix is asked for it, and one that is not there has a remedy."""
    program = tmp_path / "bin" / "quiclab-quiche"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    assert QuicheClient().probe(lambda _argv: "quiche 0.30.0\n", str(tmp_path)) == Available("0.30.0", str(program))
    assert isinstance(QuicheClient().probe(lambda _argv: "quiche 0.30.0\n", str(tmp_path / "none")), Unsupported)
