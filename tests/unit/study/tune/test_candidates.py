# SPDX-License-Identifier: Apache-2.0
"""Settings that are tried, of the programs that quiclab has."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.spec.arms import KNOB_KEYS, TCP_KEYS
from quiclab.spec.read import read_study
from quiclab.spec.two_builds import Build
from quiclab.study.confirm.variants import Cell
from quiclab.study.tune.candidates import KNOBS, TCP_KNOBS, candidates

_ENDS = ("client", "server", "tcp")
_SPEC = """\
[study]
name = "s"
seed = 1
blocks = 1

[[workload]]
name = "w"
size = "1 MB"
{workload}

[[path]]
name = "p"
rate = "10 Mbit/s"
rtt = "40 ms"

[[arm]]
name = "a"
{arm}
"""
_QUINN = 'protocol = "h3"\nclient = "quinn"\nserver = {name = "quinn", initial_window = 4}'


def _cell(folder: Path, arm: str, workload: str = "") -> Cell:
    spec = folder / "spec.toml"
    spec.write_text(_SPEC.format(arm=arm, workload=workload))
    study = read_study(spec, {})
    return Cell(study, Build(spec, study).document(), study.workloads[0], "p", study.arms[0], study.arms[0])


def _texts(folder: Path, arm: str, workload: str = "") -> list[str]:
    return [each.text for each in candidates(_cell(folder, arm, workload), ends=_ENDS, knobs=())]


def test_the_knobs_that_the_programs_have(tmp_path: Path) -> None:
    """Each end has those that can change the time of a download, and no value that the arm has already."""
    found = _texts(tmp_path, _QUINN)
    assert {"server.initial_window = 32", "server.congestion_control = bbr"} <= set(found)
    assert "client.stream_window = 16 MiB, client.connection_window = 16 MiB" in found
    assert "server.initial_window = 4" not in found
    assert not any(text.startswith(("client.initial_window", "server.stream_window", "tcp.")) for text in found)
    assert not any("bbr2" in text or "scheduler" in text or "hystart" in text for text in found)


def test_the_most_promising_value_of_each_knob_comes_first(tmp_path: Path) -> None:
    """No knob is tried twice before another one is tried once, as minutes may be few."""
    found = _texts(tmp_path, _QUINN)
    assert found[:2] == ["server.congestion_control = bbr", "server.initial_window = 32"]
    assert found[2] == "client.stream_window = 16 MiB, client.connection_window = 16 MiB"
    first = [text.partition(" = ")[0] for text in found[: found.index("server.congestion_control = reno")]]
    assert len(set(first)) == len(first)


@pytest.mark.parametrize(
    ("arm", "tried", "present"),
    [
        (
            _QUINN,
            {"server.gso = false", "server.ecn = false"},
            {"server.gso = true", "server.path_mtu_discovery = true"},
        ),
        (
            'protocol = "h3"\nclient = "ngtcp2"\nserver = "ngtcp2"',
            {"client.stream_window = 4 MiB", "client.ack_frequency = 10", "server.congestion_control = bbr"},
            {"client.stream_window = 16 MiB", "client.ack_frequency = 2", "server.congestion_control = cubic"},
        ),
        (
            'protocol = "h3"\nclient = "quinn"\nserver = "quiche"',
            {"server.hystart = false", "server.gso = true", "server.initial_window = 32"},
            {"server.hystart = true", "server.gso = false", "server.pacing = false", "server.initial_window = 10"},
        ),
        (
            'protocol = "h3"\nclient = "quinn"\nserver = "nginx"\norigin_protocol = "h1"\nproxy = "haproxy"\n'
            'tcp = {congestion_control = "cubic"}',
            {"proxy.congestion_control = bbr", "proxy.pacing = false", "proxy.hystart = true"},
            {"proxy.congestion_control = cubic", "proxy.pacing = true", "proxy.hystart = false"},
        ),
    ],
    ids=["quinn", "ngtcp2", "quiche", "haproxy"],
)
def test_no_value_is_tried_that_a_program_has_by_itself(
    tmp_path: Path, arm: str, tried: set[str], present: set[str]
) -> None:
    """The arm as it is has it already; the other values of the same knob race."""
    found = set(_texts(tmp_path, arm))
    assert tried <= found
    assert not present & found


def test_nginx_sends_by_its_stream_window(tmp_path: Path) -> None:
    """nginx holds back what is beyond its buffer, and other servers do not; no default is tried."""
    found = _texts(tmp_path, 'protocol = "h3"\nclient = "curl-cffi"\nserver = "nginx"')
    assert "server.stream_window = 16 MiB" in found
    assert "server.gso = true" in found
    assert "server.gso = false" not in found


def test_an_upload_turns_the_ends_round(tmp_path: Path) -> None:
    """The client sends, and the server's windows bound it."""
    arm = 'protocol = "h3"\nclient = "quic-go"\nserver = "quic-go"'
    found = _texts(tmp_path, arm, 'direction = "upload"')
    assert any(text.startswith("server.stream_window") for text in found)
    assert any(text.startswith(("client.congestion_control", "client.gso")) for text in found)
    assert not any(text.startswith("client.stream_window") for text in found)


def test_over_tcp_linux_is_tuned(tmp_path: Path) -> None:
    """Linux has its settings at both ends, and those that it has already are not tried."""
    arm = 'protocol = "h2"\nclient = "curl-cffi"\nserver = "nginx"\ntcp = {congestion_control = "cubic"}'
    found = _texts(tmp_path, arm)
    assert {"tcp.congestion_control = bbr", "tcp.initial_window = 32", "tcp.pacing = true"} <= set(found)
    assert not {"tcp.congestion_control = cubic", "tcp.initial_window = 10", "tcp.pacing = false"} & set(found)


def test_a_program_of_the_users_own_is_not_tuned(tmp_path: Path) -> None:
    """A knob of it tells what it has, and changes nothing."""
    server = 'server = {argv = ["/bin/server", "{port}"]}'
    found = _texts(tmp_path, f'protocol = "h3"\nclient = "quinn"\n{server}')
    assert found
    assert all(text.startswith("client.") for text in found)


@pytest.mark.parametrize(("ends", "knobs"), [(("server",), ()), (_ENDS, ("initial_window", "pacing"))])
def test_some_of_them(tmp_path: Path, ends: tuple[str, ...], knobs: tuple[str, ...]) -> None:
    """Only settings of the end, or of the knobs, that are named are tried."""
    found = candidates(_cell(tmp_path, _QUINN), ends=ends, knobs=knobs)
    assert found
    for each in found:
        assert all(change.table in ends and (not knobs or change.key in knobs) for change in each.changes)


def test_names_are_those_of_arms(tmp_path: Path) -> None:
    """Each names one arm of a spec."""
    names = [each.name for each in candidates(_cell(tmp_path, _QUINN), ends=_ENDS, knobs=())]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 64 and name.replace("-", "").replace("_", "").replace(".", "").isalnum() for name in names)


def test_ranges_are_of_keys_that_a_spec_has() -> None:
    """A range without a knob would never be tried."""
    assert KNOBS.keys() <= KNOB_KEYS.keys()
    assert TCP_KNOBS.keys() <= TCP_KEYS.keys()
