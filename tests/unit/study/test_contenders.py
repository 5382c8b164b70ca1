# SPDX-License-Identifier: Apache-2.0
"""The programs of a question: which are chosen, and what is made equal."""

from __future__ import annotations

import pytest

from quiclab.model.errors import SpecError
from quiclab.model.study import Workload
from quiclab.model.units import ByteCount
from quiclab.study.contenders import Build, Contender, Contenders, ProgramChoice, contenders, declared, equalised

_OBJECT = Workload("object", size=ByteCount(300_000))
_CLIENT = Build("client", "curl-cffi", None, "0.16.3")


def _of_server(name: str, version: str) -> Contenders:
    """Arms of one server of a version, whether it is here or not."""
    build = Build("server", name, None, version)
    over_quic = equalised(Contender("h3", _CLIENT, build), upload=False)
    over_tcp = Contender("h2", _CLIENT, build)
    return Contenders(declared(over_tcp, _OBJECT), declared(over_quic, _OBJECT))


def _points(found: Contenders) -> list[str]:
    """Points that are told as not equal."""
    return [each.partition(":")[0] for each in found.unequal]


def test_a_server_with_cubic_and_a_known_window_is_equal() -> None:
    """By its own defaults, or by its knob; the window of TCP's arm is that of the other."""
    assert _points(_of_server("nginx", "1.30.6")) == ["packet size", "receive window"]
    aioquic = equalised(Contender("h3", _CLIENT, Build("server", "aioquic", None, "1.7.2")), upload=False)
    assert aioquic.knobs["server"].congestion_control == "cubic"


def test_packets_pacing_and_windows_are_told_where_they_are_not_equal() -> None:
    """Chromium's windows are the same over both; Caddy's packets and pacing are not."""
    ends = Build("client", "chromium", None, "156.0"), Build("server", "caddy", None, "2.11.7")
    h2, h3 = (declared(Contender(each, *ends, initial_window=32), _OBJECT) for each in ("h2", "h3"))
    found = Contenders(h2, h3)
    assert _points(found) == ["congestion control", "packet size", "pacing"]
    assert "pacing: h2 not paced; h3 paced" in found.unequal


def test_what_a_program_cannot_have_is_told() -> None:
    """Versions differ: nginx before 1.27.5 has NewReno and a window without a number of packets."""
    told = " ".join(_of_server("nginx", "1.26.3").unequal)
    assert "NewReno" in told
    assert "initial window: h2 10 packets" in told


def test_what_is_not_known_of_a_sender_is_told_as_not_known() -> None:
    """Over QUIC nothing is assumed."""
    build = Build("server", "nginx", None, "1.0")
    assert "cubic" not in Contender("h3", _CLIENT, build).sender_text
    assert "not known" in Contender("h3", _CLIENT, build).sender_text
    assert "cubic" in Contender("h2", _CLIENT, build).sender_text


def test_tcp_takes_the_window_of_the_quic_program() -> None:
    """Caddy's cannot be changed, and TCP's can."""
    found = contenders(_OBJECT, *(ProgramChoice("curl-cffi", "caddy"),) * 2)
    assert found.h2.arm.tcp.initial_window == 32
    assert found.h2.arm.tcp.congestion_control == "cubic"
    assert "initial window" not in _points(found)
    assert "h3 New Reno" in found.unequal[0]


def test_without_names_both_arms_have_the_same_programs() -> None:
    """Whatever is here: the demo's programs always are."""
    found = contenders(_OBJECT, ProgramChoice(), ProgramChoice())
    assert (found.h2.client, found.h2.server) == (found.h3.client, found.h3.server)


def test_of_an_upload_the_client_is_the_sender() -> None:
    """Its congestion control and window are compared."""
    upload = Workload("up", size=ByteCount(1000), direction="upload")
    found = contenders(upload, *(ProgramChoice("curl-cffi"),) * 2)
    assert found.h3.facts["congestion_control"] == "ngtcp2 cubic with beta 0.7"
    assert "packet size: h2 TCP payload 1448 bytes; h3 not known" in found.unequal


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (ProgramChoice("curl-cffi", "cady"), "did you mean 'caddy'"),
        (ProgramChoice("curl-cffi", "quiche"), "speaks h3, not h2"),
        (ProgramChoice("wget2", "caddy"), "speaks"),
    ],
)
def test_programs_that_cannot_do_it(named: ProgramChoice, told: str) -> None:
    """The reason is that of the program."""
    with pytest.raises(SpecError) as caught:
        contenders(_OBJECT, named, named)
    assert told in " ".join([caught.value.hint, *caught.value.problems])
