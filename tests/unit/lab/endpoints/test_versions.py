# SPDX-License-Identifier: Apache-2.0
"""Facts of programs by their version."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from contexts import CONTEXT

from quiclab.lab.endpoints import ENDPOINTS, Endpoint, Origin, SizesDatagrams, find
from quiclab.lab.endpoints._versions import Known, numbers
from quiclab.model.study import Program, Role, Tcp

TCP = Tcp("cubic")
KNOWN = Known("it", "1.2", "1.10")


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("1.2.0", "old"),
        ("1.8", "old"),
        ("1.9", "old; from 1.9.5 on new"),
        ("1.9.4-1+deb13u1", "old"),
        ("1.9.5", "new"),
        ("1.10.99", "new"),
        ("1.11", "new (as of it 1.10)"),
        ("2", "new (as of it 1.10)"),
        ("1.1.9", "old (as of it 1.2)"),
        (None, "old; from 1.9.5 on new"),
        ("unknown", "old; from 1.9.5 on new"),
    ],
)
def test_a_fact_is_that_of_the_version(version: str | None, told: str) -> None:
    """Numbers are compared as numbers; nothing is claimed of a version that nobody has looked at."""
    facts = KNOWN.traits(Program("it", version=version), {"sends": {"1.2": "old", "1.9.5": "new"}})
    assert facts == {"sends": told}


def test_one_fact_is_always_one() -> None:
    """The newest where the version is not known."""
    sizes = {"1.2": 1252, "1.9": 1280}
    found = [KNOWN.fact(Program("it", version=each), sizes) for each in ("1.0", "1.8", "1.9", "3", None)]
    assert found == [1252, 1252, 1280, 1280, 1280]


@pytest.mark.parametrize(("role", "name"), [("server", "nginx"), ("proxy", "nginx")])
@pytest.mark.parametrize(
    ("version", "controller", "window"),
    [
        ("1.26.3", "nginx NewReno with beta 0.5, window never below 131 KB", "as much as its stream buffer"),
        ("1.27.4", "nginx NewReno with beta 0.5, window never below 131 KB", "as much as its stream buffer"),
        ("1.27.5", "nginx CUBIC with beta 0.7 (of what is in flight)", "10 packets of 1200 bytes"),
        ("1.30.6", "nginx CUBIC with beta 0.7 (of what is in flight)", "10 packets of 1200 bytes"),
    ],
)
def test_nginx_has_one_congestion_control(role: Role, name: str, version: str, controller: str, window: str) -> None:
    """A release's congestion control and first window."""
    facts = find(role, name).traits(Program(name, version=version), "h3", TCP)
    assert facts["congestion_control"] == controller
    assert facts["initial_window"].startswith(window)


@pytest.mark.parametrize(
    ("role", "name", "version", "payload"),
    [
        ("server", "caddy", "2.5.2", 1252),
        ("server", "caddy", "2.7.6", 1252),
        ("proxy", "caddy", "2.11.4", 1280),
        ("server", "caddy", "2.11.7", 1200),
        ("client", "quic-go", "0.43.1 (Go 1.22.3)", 1252),
        ("server", "quic-go", "0.44.0 (Go 1.22.3)", 1280),
    ],
)
def test_sizes_of_first_datagrams(role: Role, name: str, version: str, payload: int) -> None:
    """One number, which the words about packet sizes have too."""
    endpoint, program = find(role, name), Program(name, version=version)
    assert isinstance(endpoint, SizesDatagrams)
    assert endpoint.first_payload(program, 4) == payload
    if role != "client":
        assert endpoint.traits(program, "h3", TCP)["packet_size"].startswith(f"UDP payload {payload} ")


_NOT_OF_A_VERSION = ("origin_connection", "certificate_check", "loss_detection")
"""Points that quiclab itself sets."""


def _of_its_own() -> list[Endpoint]:
    return [each for each in ENDPOINTS if each.name not in ("command", "nghttp")]


@pytest.mark.parametrize("endpoint", _of_its_own(), ids=lambda endpoint: f"{endpoint.role}-{endpoint.name}")
def test_facts_of_an_unheard_version_say_of_which_they_are(endpoint: Endpoint) -> None:
    """Facts of the program itself have versions, and those of the kernel's TCP none."""
    protocol = "h3" if "h3" in endpoint.protocols else "h2"
    facts = endpoint.traits(Program(endpoint.name, version="9999.0"), protocol, TCP)
    own = {point: fact for point, fact in facts.items() if point not in _NOT_OF_A_VERSION}
    own = {point: fact for point, fact in own.items() if "faulty" not in fact}
    assert own
    assert all("(as of " in fact for fact in own.values()), own


def test_numbers_of_versions() -> None:
    """Versions as programs and packages write them."""
    assert numbers("0.65.0 (Go 1.26.8)") == (0, 65, 0)
    assert numbers("153.8.0esr") == (153, 8, 0)
    assert numbers("unknown") == numbers(None) == ()


@pytest.mark.parametrize(("version", "keys"), [("2.5.2", {"experimental_http3"}), ("2.6.1", {"protocols"})])
@pytest.mark.parametrize("role", ["server", "proxy"])
def test_caddy_is_told_its_protocols_in_the_words_of_its_version(version: str, keys: set[str], role: Role) -> None:
    """Caddy refuses a configuration with a key that it does not know."""
    program = Program("caddy", version=version)
    origin = Origin("10.77.0.3", 443, "h2") if role == "proxy" else None
    command = find(role, "caddy").command(replace(CONTEXT, program=program, origin=origin))
    (config,) = (json.loads(text) for text in command.files.values())
    (site,) = config["apps"]["http"]["servers"].values()
    assert {"experimental_http3", "protocols"} & site.keys() == keys
    assert ("root_ca_pem_files" in json.dumps(config)) == (role == "proxy")
