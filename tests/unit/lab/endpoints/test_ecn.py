# SPDX-License-Identifier: Apache-2.0
"""What QUIC programs do with ECN, and how a plan says whom a path will not mark."""

from __future__ import annotations

import pytest

from quiclab.lab.endpoints import ENDPOINTS
from quiclab.lab.endpoints.ecn import Ecn, ecn_of, ecn_warnings
from quiclab.model.study import Arm, CoDel, Direction, Knobs, Path, Program, Step, Tcp
from quiclab.project import release_folder

DOWN = Path("p", down=Direction(aqm=CoDel(ecn=True)))


def arm(client: str, server: str, protocol: str = "h3", *, ecn: bool | None = None, proxy: str = "") -> Arm:
    """An arm with the knob on whoever answers."""
    front = Program(proxy or server, knobs=Knobs(ecn=ecn))
    return Arm(
        name="a",
        protocol=protocol,  # type: ignore[arg-type]
        client=Program(client),
        server=Program(server) if proxy else front,
        tcp=Tcp("reno", ecn=ecn),
        proxy=front if proxy else None,
    )


def test_every_program_of_quic_is_known() -> None:
    """Except the user's own."""
    for endpoint in ENDPOINTS:
        if "h3" in endpoint.protocols:
            known = ecn_of(Program(endpoint.name)) != Ecn(None, None)
            assert known is (endpoint.name != "command"), endpoint.name


def test_nothing_is_known_of_an_older_release() -> None:
    """Current programs are no witness of earlier ones."""
    old = Program("caddy", version="2.5.2", prefix=str(release_folder("caddy", "2.5.2")))
    assert ecn_of(old) == Ecn(None, None)


def test_nothing_is_said_where_all_is_well() -> None:
    """Both ends take part, TCP does by itself, and the path marks in one direction only."""
    good = [arm("quic-go", "quinn"), arm("chromium", "caddy"), arm("curl", "nginx", "h2")]
    assert ecn_warnings(good, DOWN) == []
    assert ecn_warnings([arm("aioquic", "nginx")], Path("plain", down=Direction(aqm=CoDel()))) == []


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (arm("quic-go", "nginx"), "dropped instead: the server nginx sends no ECT"),
        (arm("quic-go", "caddy", proxy="envoy"), "the proxy envoy sends no ECT"),
        (arm("quic-go", "quinn", ecn=False), "the server quinn is told to send no ECT"),
        (arm("curl-cffi", "caddy"), "at first only: the client curl-cffi does not report what arrived, so the server"),
        (arm("curl", "nginx", "h2", ecn=False), "tcp.ecn is false"),
        (arm("command", "caddy"), "is not known"),
    ],
)
def test_who_cannot_take_part_is_named(asked: Arm, says: str) -> None:
    """With the end that is the reason."""
    (warning,) = ecn_warnings([asked], DOWN)
    assert says in warning
    assert "arm a packets down" in warning


def test_a_marker_for_l4s_is_told_once() -> None:
    """Nobody sends ECT(1)."""
    step = Direction(aqm=Step())
    (warning,) = ecn_warnings([arm("quic-go", "quinn"), arm("curl", "nginx", "h2")], Path("l4s", up=step, down=step))
    assert "ECT(1) alone (down and up)" in warning
