# SPDX-License-Identifier: Apache-2.0
"""Commands of every endpoint: pure, complete, and nothing outside the trial's folder."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from contexts import CONTEXT, WORK

from quiclab.lab.endpoints import ENDPOINTS, Available, Unsupported, find
from quiclab.model.errors import SpecError
from quiclab.model.study import Knobs, Program, Role, Tcp

OWN = ("server", "command"), ("client", "command"), ("proxy", "command")


def test_names_are_unique_per_role() -> None:
    """A spec names a program by role and name."""
    names = [(endpoint.role, endpoint.name) for endpoint in ENDPOINTS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.role}-{endpoint.name}")
def test_commands_are_pure(endpoint: object) -> None:
    """The same context gives the same command, and every file lies in the trial's folder."""
    context = replace(CONTEXT, program=Program("own", argv=("prog", "{url}")))
    first, second = endpoint.command(context), endpoint.command(context)  # type: ignore[attr-defined]
    assert first == second
    assert all(file.is_relative_to(WORK) for file in first.files)
    assert first.env["HOME"] == str(WORK)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.role}-{endpoint.name}")
def test_a_missing_program_is_unsupported_with_a_remedy(endpoint: object) -> None:
    """A probe that fails is a result that says what to do."""
    result = endpoint.probe(lambda _argv: None)  # type: ignore[attr-defined]
    if (endpoint.role, endpoint.name) in OWN:  # type: ignore[attr-defined]
        assert isinstance(result, Available)
    else:
        assert isinstance(result, Unsupported)
        assert result.install.startswith(("make ", "apt-get install ", "set "))


def test_caddy_serves_one_site_and_writes_qlog_for_h3_only() -> None:
    """The listener is the server's address; an unmatched Host is refused instead of answered with nothing."""
    caddy = find("server", "caddy")
    h3, h2 = caddy.command(CONTEXT), caddy.command(replace(CONTEXT, protocols=("h2",)))
    assert h3.env["QLOGDIR"] == "/lab/trial/raw/qlog"
    assert "QLOGDIR" not in h2.env
    assert h3.sockets == ("tcp", "udp")
    server = json.loads(h3.files[WORK / "caddy.json"])["apps"]["http"]["servers"]["study"]
    assert server["listen"] == ["10.77.0.2:443"]
    assert server["routes"][0]["match"] == [{"host": ["server.test"]}]
    assert server["routes"][1]["handle"][0]["status_code"] == 421


def test_caddy_on_ipv6() -> None:
    """An IPv6 socket address stands in brackets."""
    command = find("server", "caddy").command(replace(CONTEXT, ip_version=6, address="fd77::2"))
    assert '"[fd77::2]:443"' in command.files[WORK / "caddy.json"]


def test_curl_is_told_everything_in_its_job() -> None:
    """URL, protocols, the address of the name, and the two options without which HTTP/2 can stall at 1 MiB."""
    command = find("client", "curl-cffi").command(replace(CONTEXT, protocols=("h2", "h3")))
    job = json.loads(command.files[WORK / "client-job.json"])
    assert job["url"] == "https://server.test/1MB"
    assert job["protocols"] == ["h2", "h3"]
    assert job["resolve"] == "server.test:443:10.77.0.2"
    assert job["h2_settings"]
    assert job["h2_window_update"]
    assert command.argv[0] == sys.executable
    assert command.waits_for_go
    assert command.reports
    assert command.env["SSLKEYLOGFILE"] == "/lab/trial/raw/keys.log"


def test_a_port_other_than_443_stands_in_the_url() -> None:
    """RFC 9110 section 4.2.2: 443 is the default of https."""
    assert replace(CONTEXT, port=8443).url == "https://server.test:8443/1MB"


def test_aioquic_speaks_h3_with_reno_or_cubic() -> None:
    """Anything else is refused when the plan is made."""
    cubic, bbr = (Program("aioquic", knobs=Knobs(congestion_control=name)) for name in ("cubic", "bbr"))
    for role in ("server", "client"):
        aioquic = find(role, "aioquic")
        assert aioquic.unsupported(cubic, "h3") is None
        assert "reno, cubic" in (aioquic.unsupported(bbr, "h3") or "")


@pytest.mark.parametrize(
    ("role", "name", "program"),
    [
        ("client", "aioquic", "bin/python3"),
        ("server", "aioquic", "bin/python3"),
        ("client", "curl-cffi", "bin/python3"),
        ("server", "caddy", "caddy"),
    ],
)
def test_programs_of_wheels_have_versions_side_by_side_too(tmp_path: Path, role: Role, name: str, program: str) -> None:
    """From a prefix, which is a Python environment or a folder with the binary; and from nowhere else."""
    endpoint = find(role, name)
    assert isinstance(endpoint.probe(lambda _argv: "2.0 x", str(tmp_path)), Unsupported)
    there = tmp_path / program
    there.parent.mkdir(exist_ok=True)
    there.touch(mode=0o755)
    assert endpoint.probe(lambda _argv: "2.0 x", str(tmp_path)) != endpoint.probe(lambda _argv: "2.0 x")
    command = endpoint.command(replace(CONTEXT, program=Program(name, prefix=str(tmp_path))))
    assert command.argv[0] == str(there)


def test_a_template_is_filled_in() -> None:
    """Words in braces become values, in arguments and in the environment."""
    program = Program("command", argv=("hq", "--port={port}", "{root}/x"), env=(("QLOG", "{qlog_dir}"),), ready="udp")
    command = find("server", "command").command(replace(CONTEXT, program=program))
    assert command.argv == ("hq", "--port=443", "/lab/www/x")
    assert command.env["QLOG"] == "/lab/trial/raw/qlog"
    assert command.sockets == ("udp",)


def test_an_unknown_word_in_a_template() -> None:
    """The word and the known ones are named."""
    program = Program("command", argv=("hq", "{prot}"))
    with pytest.raises(SpecError, match=r"\{prot\}") as caught:
        find("client", "command").command(replace(CONTEXT, program=program))
    assert "{port}" in caught.value.hint


def test_an_unknown_program_with_its_closest_name() -> None:
    """A slip of the hand costs one look."""
    with pytest.raises(SpecError, match="cady") as caught:
        find("server", "cady")
    assert "caddy" in caught.value.hint


def test_the_arms_differences_can_be_told() -> None:
    """Both halves of a stack say what decides its speed."""
    tcp = Tcp("reno", 32)
    caddy = find("server", "caddy")
    assert "reno" in caddy.traits(Program("caddy"), "h2", tcp)["congestion_control"]
    assert "0.7" in caddy.traits(Program("caddy"), "h3", tcp)["congestion_control"]
    assert find("client", "curl-cffi").traits(Program("curl-cffi"), "h3", tcp)["receive_window"]
