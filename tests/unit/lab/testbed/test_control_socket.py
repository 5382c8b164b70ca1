# SPDX-License-Identifier: Apache-2.0
"""A socket by which a running link is changed: its place, and what is answered over it."""

from __future__ import annotations

import socket
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from quiclab.lab.testbed.control_socket import LONGEST_NAME, ControlSocket, ask
from quiclab.model.errors import HostError, SpecError
from quiclab.spec.live_path import LivePath


class Noted:
    """A link that notes its changes; the second of them it refuses."""

    def __init__(self) -> None:
        self.changes: list[Mapping[str, object]] = []

    def change(self, change: Mapping[str, object]) -> int:
        if change:
            self.changes.append(change)
            if len(self.changes) == 2:
                raise SpecError("the link cannot change as asked: WHY", "it goes on as it was")
        return 5_000 * len(self.changes)


PATH = LivePath({"name": "link", "rate": "10 Mbit/s"}, Path("/"))


def test_changes_are_answered_with_the_path(tmp_path: Path) -> None:
    """Settings are shown without a change; one that the link refuses is not kept."""
    place, link = tmp_path / "socket", Noted()
    with ControlSocket(place) as control, control.serve(link, PATH):
        assert ask(place, {"set": {}}) == {"at_ns": 0, "path": dict(PATH.table), "folder": "/"}
        answer = ask(place, {"set": {"up": {"delay": "7 ms"}}})
        assert answer["at_ns"] == 5_000
        assert answer["path"] == {
            **PATH.table,
            "up": {"schedule": [{"at": "1 ns", "delay": "7 ms"}]},
        }
        with pytest.raises(SpecError, match="WHY"):
            ask(place, {"set": {"up": {"delay": "8 ms"}}})
        assert ask(place, {"set": {}})["path"] == answer["path"]
    assert link.changes[0] == {"link": "bottleneck", "up": {"delay_ns": 7_000_000}}


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"set": {"": {"delay": "soon"}}}, "--up-delay"),
        ({"set": [1]}, "the request is not understood"),
        ({"set": {"": 3}}, "the request is not understood"),
        ({}, "the request is not understood"),
    ],
)
def test_what_is_wrong_changes_nothing(tmp_path: Path, request_: dict[str, object], words: str) -> None:
    """A sentence says why, and the next one is heard."""
    link = Noted()
    with ControlSocket(tmp_path / "socket") as control, control.serve(link, PATH):
        with pytest.raises(SpecError) as caught:
            ask(tmp_path / "socket", request_)
        assert words in " ".join([str(caught.value), *caught.value.problems])
        assert ask(tmp_path / "socket", {"set": {}})["path"] == dict(PATH.table)
    assert link.changes == []


def test_lines_that_are_no_json_are_answered(tmp_path: Path) -> None:
    """A peer that says nothing, and goes, is answered too."""
    with ControlSocket(tmp_path / "socket") as control, control.serve(Noted(), PATH):
        for line in (b"nonsense\n", b""):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(tmp_path / "socket"))
                connection.sendall(line)
                connection.shutdown(socket.SHUT_WR)
                assert b"not understood" in connection.recv(4096)


def test_the_socket_is_for_its_owner_and_goes_with_the_link(tmp_path: Path) -> None:
    """Nobody else may connect, and nothing is left."""
    place = tmp_path / "socket"
    with ControlSocket(place):
        assert stat.S_IMODE(place.lstat().st_mode) == 0o600
    assert not place.exists()
    with pytest.raises(HostError, match="no running link answers"):
        ask(place, {"set": {}})


def test_a_socket_that_a_killed_run_left_is_replaced(tmp_path: Path) -> None:
    """Nobody listens there any more; where somebody does, it is refused."""
    place = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(place))
    with ControlSocket(place):
        with pytest.raises(SpecError, match="another running command"):
            ControlSocket(place)
        assert place.exists()


def test_another_socket_at_its_place_stays(tmp_path: Path) -> None:
    """Only what was made is removed at the end."""
    place = tmp_path / "socket"
    with ControlSocket(place):
        place.unlink()
        place.write_text("mine")
    assert place.read_text() == "mine"


def test_places_that_cannot_be(tmp_path: Path) -> None:
    """A file of the user's stays, a folder must be there, and a name has a bound."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SpecError, match="is no socket of yours"):
        ControlSocket(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(HostError, match="cannot make the socket"):
        ControlSocket(tmp_path / "no" / "socket")
    with pytest.raises(SpecError, match="is longer than"):
        ControlSocket(tmp_path / ("x" * LONGEST_NAME))
