# SPDX-License-Identifier: Apache-2.0
"""Values that programs have by themselves: those of their documentation or source, and setting one changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from quiclab.lab.endpoints import KnowsOwnValues, find
from quiclab.lab.endpoints._registry import names_by_role
from quiclab.model.study import Arm, Knobs, Program, Protocol, Role
from quiclab.spec.arms import KNOB_KEYS
from quiclab.spec.read import read_study

_ROLES: tuple[Role, ...] = ("client", "server", "proxy")
_SPEC = """\
[study]
name = "s"
seed = 1
blocks = 1

[[workload]]
name = "w"
size = "1 MB"

[[path]]
name = "p"
rate = "10 Mbit/s"
rtt = "40 ms"

[[arm]]
name = "a"
protocol = "{protocol}"
client = {client}
server = {server}
tcp = {{congestion_control = "reno"}}
{proxy}
"""


def _declared() -> Iterator[tuple[Role, str, Protocol]]:
    for role in _ROLES:
        for name in names_by_role()[role]:
            endpoint = find(role, name)
            if isinstance(endpoint, KnowsOwnValues):
                for protocol in sorted(endpoint.protocols):
                    if endpoint.own_values(Program(name), protocol):
                        yield role, name, protocol


def _own(role: Role, name: str, protocol: Protocol = "h3", **knobs: object) -> Mapping[str, object]:
    endpoint = find(role, name)
    assert isinstance(endpoint, KnowsOwnValues)
    return endpoint.own_values(Program(name, knobs=Knobs(**knobs)), protocol)  # type: ignore[arg-type]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def _arm(folder: Path, role: Role, name: str, protocol: Protocol, **knobs: object) -> Arm:
    table = ", ".join(f"{key} = {_text(value)}" for key, value in {"name": name, **knobs}.items())
    programs = {"client": '"curl-cffi"' if protocol != "h1" else '"curl"', "server": '"nginx"', "proxy": ""}
    programs[role] = f"{{{table}}}"
    proxy = f'proxy = {programs["proxy"]}\norigin_protocol = "h1"' if role == "proxy" else ""
    spec = folder / "spec.toml"
    spec.write_text(_SPEC.format(protocol=protocol, client=programs["client"], server=programs["server"], proxy=proxy))
    return read_study(spec, {}).arms[0]


@pytest.mark.parametrize(("role", "name", "protocol"), list(_declared()))
def test_setting_an_own_value_changes_no_fact(tmp_path: Path, role: Role, name: str, protocol: Protocol) -> None:
    """Each is a value that a spec can set on the program, and what decides its speed stays as it was."""
    endpoint = find(role, name)
    as_it_is = _arm(tmp_path, role, name, protocol)
    plain = next(each for at, each, _ in as_it_is.programs() if at == role)
    before = endpoint.traits(plain, protocol, as_it_is.tcp)
    for key, value in _own(role, name, protocol).items():
        assert key in endpoint.knobs[protocol]
        assert key in KNOB_KEYS
        arm = _arm(tmp_path, role, name, protocol, **{key: value})
        changed = next(each for at, each, _ in arm.programs() if at == role)
        assert changed.knobs != plain.knobs
        assert endpoint.unsupported(changed, protocol) is None
        after = endpoint.traits(changed, protocol, arm.tcp)
        assert {point: _plain(fact) for point, fact in after.items()} == {
            point: _plain(fact) for point, fact in before.items()
        }, key


def _plain(fact: str) -> str:
    """A fact whose numbers are written in one form: a PTO of three times 333 ms is 1 s, rounded."""
    return fact.replace("65,535 B", "65.535 KB").replace("999 ms", "1 s")


@pytest.mark.parametrize(
    ("role", "name", "protocol", "expected"),
    [
        ("server", "nginx", "h3", {"max_streams": 128, "stream_window": "64 KiB", "gso": False, "retry": False}),
        ("proxy", "nginx", "h2", {"max_streams": 128, "upload_window": "64 KiB"}),
        ("server", "caddy", "h3", {"congestion_control": "reno"}),
        ("proxy", "caddy", "h3", {"congestion_control": "reno"}),
        ("proxy", "envoy", "h3", {"congestion_control": "bbr"}),
        ("proxy", "haproxy", "h2", {"max_streams": 100}),
        ("proxy", "haproxy", "h3", {"congestion_control": "cubic", "max_window": "480 KiB", "hystart": False}),
        ("server", "quinn", "h3", {"initial_window": 10, "packet_threshold": 3, "time_threshold": 1.125, "gso": True}),
        ("client", "quinn", "h3", {"stream_window": "1.25 MB", "ecn": True, "path_mtu_discovery": True}),
        ("server", "quiche", "h3", {"initial_window": 10, "pacing": False, "hystart": True, "gso": False}),
        ("client", "quiche", "h3", {"congestion_control": "cubic", "max_payload": 1200, "initial_rtt": "333 ms"}),
        ("server", "quic-go", "h3", {"congestion_control": "reno", "max_streams": 100, "gso": True, "ecn": True}),
        ("server", "quic-go", "h2", {"max_streams": 250, "stream_window": "1 MiB", "connection_window": "1 MiB"}),
        ("client", "quic-go", "h2", {"stream_window": "4 MiB"}),
        ("server", "ngtcp2", "h3", {"ack_frequency": 2, "stream_window": "256 KiB", "connection_window": "1 MiB"}),
        ("client", "ngtcp2", "h3", {"stream_window": "16 MiB", "connection_window": "24 MiB", "initial_rtt": "333 ms"}),
        ("server", "aioquic", "h3", {"congestion_control": "reno", "initial_rtt": "100 ms", "max_payload": 1200}),
        ("client", "nghttp", "h2", {"stream_window": "65535 B", "connection_window": "65535 B"}),
    ],
)
def test_values_by_documentation_or_source(
    role: Role, name: str, protocol: Protocol, expected: Mapping[str, object]
) -> None:
    """The values are those that stand there."""
    own = _own(role, name, protocol)
    assert {key: own.get(key) for key in expected} == expected


def test_values_that_depend_on_what_is_set() -> None:
    """quinn's BBR has a larger initial window, quiche's paces, and a payload that is fixed leaves no path MTU
    discovery."""
    assert _own("server", "quinn", congestion_control="bbr")["initial_window"] == 200
    assert "initial_window" not in _own("server", "quinn", max_payload=1452)
    bbr2 = _own("server", "quiche", congestion_control="bbr2")
    assert bbr2["pacing"] is True
    assert "hystart" not in bbr2
    payloads: list[tuple[Role, str]] = [("server", "quinn"), ("server", "quic-go"), ("client", "ngtcp2")]
    for role, name in payloads:
        assert _own(role, name)["path_mtu_discovery"] is True
        assert _own(role, name, max_payload=1300)["path_mtu_discovery"] is False


def test_windows_that_grow_have_no_own_value() -> None:
    """Setting one would stop it from growing."""
    growing: list[tuple[Role, str]] = [("client", "quic-go"), ("client", "quiche"), ("server", "quiche")]
    for role, name in growing:
        assert not {"stream_window", "connection_window"} & _own(role, name).keys()


def test_nothing_is_said_of_a_version_that_nobody_has_read() -> None:
    """A later release may have other values."""
    quinn = find("server", "quinn")
    assert isinstance(quinn, KnowsOwnValues)
    assert quinn.own_values(Program("quinn", version="0.11.19"), "h3")
    assert not quinn.own_values(Program("quinn", version="0.12.0"), "h3")


def test_a_faulty_twin_has_the_values_of_its_own_knobs() -> None:
    """A fault on purpose has no knob, and no value."""
    assert not {"packet_threshold", "time_threshold"} & _own("server", "quinn-faulty-threshold").keys()
    assert "initial_rtt" not in _own("server", "quinn-faulty-initial-pto")
