# SPDX-License-Identifier: Apache-2.0
"""quic-go's endpoint files: the job that they write, what they refuse, and what they say of their speed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import contexts
import pytest

from quiclab.lab.endpoints._api import Available, PageContext, ServedHost, Unsupported
from quiclab.lab.endpoints.clients.quic_go import QuicGoClient
from quiclab.lab.endpoints.servers.quic_go import QuicGoServer
from quiclab.model.study import Knobs, Program, Tcp
from quiclab.model.units import ByteCount

CONTEXT = replace(contexts.CONTEXT, ip_version=6, address="fd77::2", port=443, keylog=None)


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A prefix with a program of that name, which is never started."""
    program = tmp_path / "bin" / "quiclab-quic-go"
    program.parent.mkdir()
    program.write_text("#!/bin/false\n")
    program.chmod(0o755)
    return str(tmp_path)


def program(**knobs: Any) -> Program:
    """quic-go with these knobs."""
    return Program("quic-go", knobs=Knobs(**knobs))


def test_the_server_is_started_with_its_job(installed: str) -> None:
    """One socket for the protocol under test, two threads of Go, and an IPv6 address in brackets."""
    context = replace(CONTEXT, program=replace(program(gso=False, ecn=True), prefix=installed))
    command = QuicGoServer().command(context)
    (file,) = command.files
    assert command.argv == (f"{installed}/bin/quiclab-quic-go", "server", str(file))
    assert (command.sockets, command.env["GOMAXPROCS"]) == (("udp",), "2")
    job = json.loads(command.files[file])
    assert (job["listen"], job["protocols"], job["gso"], job["ecn"]) == ("[fd77::2]:443", ["h3"], False, True)


def test_the_client_is_started_with_its_job(installed: str) -> None:
    """It waits for the word and writes its own account."""
    context = replace(CONTEXT, program=replace(program(session="resumed"), prefix=installed), priming=True)
    command = QuicGoClient().command(context)
    (file,) = command.files
    assert command.argv[1:] == ("client", str(file))
    assert (command.waits_for_go, command.reports) == (True, True)
    job = json.loads(command.files[file])
    assert (job["session"], job["priming"], job["session_file"]) == ("resumed", True, "/lab/trial/home/session")


def test_probe_tells_both_versions(installed: str) -> None:
    """HTTP/2 and TLS are those of Go, so its version is told as well."""
    found = QuicGoServer().probe(lambda _argv: "quic-go 0.65.0\ngo 1.26.8\n", installed)
    assert found == Available("0.65.0 (Go 1.26.8)", f"{installed}/bin/quiclab-quic-go")


def test_probe_without_the_program(tmp_path: Path) -> None:
    """What adds it is told."""
    assert isinstance(found := QuicGoClient().probe(lambda _argv: "", str(tmp_path)), Unsupported)
    assert found.install == "make stacks"


@pytest.mark.parametrize(
    ("protocol", "knobs", "reason"),
    [
        ("h3", {"congestion_control": "cubic"}, "New Reno only"),
        ("h3", {"max_payload": 1500}, "1200 to 1452"),
        ("h3", {"stream_window": ByteCount(0)}, "stream_window is 1 to"),
        ("h2", {"connection_window": ByteCount(65_534)}, "connection_window is 65535 to"),
        ("h3", {"groups": ("secp256r1", "x25519")}, "an order of its own"),
        ("h3", {"groups": ("ffdhe2048",)}, "no group ffdhe2048"),
    ],
)
def test_servers_values_that_cannot_be_had(protocol: Any, knobs: dict[str, Any], reason: str) -> None:
    """Refused with what can be had."""
    assert reason in (QuicGoServer().unsupported(program(**knobs), protocol) or "")


def test_clients_values_that_cannot_be_had() -> None:
    """Early data over TCP, and a connection window that Go's HTTP/2 client takes for none."""
    client = QuicGoClient()
    assert "no early data over TCP" in (client.unsupported(program(session="early_data"), "h2") or "")
    assert client.unsupported(program(session="early_data"), "h3") is None
    assert "from a first visit" in (client.unsupported(program(address_token=True), "h3") or "")
    assert client.unsupported(program(session="resumed", address_token=True), "h3") is None
    window = program(connection_window=ByteCount(100_000))
    assert "131070" in (client.unsupported(window, "h2") or "")
    assert client.unsupported(window, "h3") is None


@pytest.mark.parametrize(
    ("version", "knobs", "first"),
    [
        ("0.40.1", {"max_payload": 1300}, "0.44"),
        ("0.40.1", {"scheduler": "fifo"}, "0.42"),
        ("0.48.2", {"session": "resumed", "address_token": True}, "0.52"),
        ("0.48.2", {"migration": "active", "migrate_at": ByteCount(1000)}, "0.51"),
    ],
)
def test_a_knob_that_an_older_release_lacks_is_refused(version: str, knobs: dict[str, Any], first: str) -> None:
    """One sentence says since when quic-go has it; the current release takes it."""
    server, client = QuicGoServer(), QuicGoClient()
    for endpoint in (server, client):
        told = endpoint.unsupported(replace(program(**knobs), version=version), "h3") or ""
        assert told.startswith(f"quic-go {version} has no ")
        assert f"only from {first} on" in told
        assert endpoint.unsupported(replace(program(**knobs), version="0.65"), "h3") is None
    assert client.unsupported(replace(program(migration="rebinding"), version="0.48.2"), "h3") is None


def test_facts_follow_the_knobs() -> None:
    """What is set is told instead of the library's own."""
    server, client, tcp = QuicGoServer(), QuicGoClient(), Tcp("cubic")
    assert server.traits(program(max_payload=1300), "h3", tcp)["packet_size"] == "UDP payload 1300 bytes"
    assert "path MTU" in server.traits(program(), "h3", tcp)["packet_size"]
    assert server.traits(program(), "h3", tcp)["ecn"] == "ECT(0)"
    assert server.traits(program(ecn=False), "h3", tcp)["ecn"] == "not marked"
    assert server.traits(program(), "h2", tcp)["pacing"] == "not paced"
    assert server.traits(program(), "h2", Tcp("cubic", pacing=True))["pacing"] == "paced"
    assert "stream window 1 MB" in client.traits(program(stream_window=ByteCount(10**6)), "h3", tcp)["receive_window"]
    assert "stream window 4 MiB" in client.traits(program(), "h2", tcp)["receive_window"]


def test_a_site_takes_types_headers_and_hosts(installed: str) -> None:
    """Every host listens at an address of its own, with its certificate and its protocols; the scheduler is told."""
    host = ServedHost("third-1.test", "fd77::b", ("h1", "h2"), Path("/tls/third.crt"), Path("/tls/third.key"))
    page = PageContext("index.html", (host,), 3, 30.0)
    asked = replace(program(scheduler="fifo", priorities=True), prefix=installed)
    command = QuicGoServer().command(replace(CONTEXT, program=asked, page=page))
    job = json.loads(next(iter(command.files.values())))
    assert (job["scheduler"], job["priorities"]) == ("fifo", True)
    (told,) = job["page"]["hosts"]
    assert (told["listen"], told["protocols"]) == ("[fd77::b]:443", ["h1", "h2"])
    assert job["page"]["content_types"]["png"] == "image/png"
    facts = QuicGoServer().traits(asked, "h2", Tcp("cubic"))
    assert facts["scheduler"] == "the more urgent first, then fifo"
