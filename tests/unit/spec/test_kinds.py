# SPDX-License-Identifier: Apache-2.0
"""Kinds of values: both ends of every range, and types that look alike."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, ReportedError, Source


def node(value: Any, folder: pathlib.Path = pathlib.Path()) -> Node:
    """A value at the top of a document."""
    return Node(value, (), Source({}, {(): 1}, folder))


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (kinds.RATE, ["1 bit/s", "1000 Gbit/s"], ["0 bit/s", "1001 Gbit/s", "1 MB", 10, ""]),
        (kinds.SIZE, ["0 B", "1000 GB"], ["-1 B", "1001 GB", "1 ms", 0]),
        (kinds.DELAY, ["0 ns", "60 s"], ["-1 ns", "61 s", "1"]),
        (kinds.TIME, ["1 ns", "60 s"], ["0 ns", "61 s"]),
        (kinds.TIMEOUT, ["24 min", "86400 s"], ["0 s", "86401 s"]),
        (kinds.SHARE, ["0 %", "100 %"], ["-0.1 %", "100.1 %", 0.5, "0.5"]),
        (kinds.NAME, ["a", "A.b_c-9", "_", "x" * 64], ["", ".", "..", ".a", "-a", "a/b", "a b", "é", "x" * 65, 1]),
        (kinds.FLAG, [True, False], [0, 1, "true"]),
        (kinds.whole(1, 3), [1, 3], [0, 4, 2.0, True, "1"]),
        (kinds.fraction(), [0.05, 1e-9], [0, 1, 1.0, float("nan"), float("inf"), True, "0.05"]),
        (kinds.choice(("a", "b")), ["a", "b"], ["c", "A", 1, True, ["a"], {"a": 1}]),
        (kinds.choice((4, 6)), [4, 6], [5, "4", True, 4.0, [4]]),
        (kinds.either("a flag, or 2", kinds.FLAG, kinds.whole(2, 2)), [True, False, 2], [1, 0, "true", 2.0, [2]]),
        (kinds.several(kinds.FLAG, "flags", least=1, most=2), [[True], [True, False]], [[], [True] * 3, True, [1]]),
    ],
)  # fmt: skip
def test_a_kind_takes_what_it_says_and_nothing_else(kind: Kind[Any], right: list[Any], wrong: list[Any]) -> None:
    """The bounds belong to the range; whatever is refused is refused in words."""
    for value in right:
        kind.read(node(value))
    for value in wrong:
        with pytest.raises((ValueError, ReportedError)):
            kind.read(node(value))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (kinds.RATE, "10 Mbit/s", Bitrate(10**7)),
        (kinds.SIZE, "100 KB", ByteCount(10**5)),
        (kinds.DELAY, "10 ms", Duration(10**7)),
        (kinds.SHARE, "1 %", Share(0.01)),
        (kinds.fraction(), 0.05, 0.05),
        (kinds.several(kinds.FLAG, "flags"), [True, False], (True, False)),
    ],
)
def test_a_kind_reads_into_its_type(kind: Kind[Any], text: Any, value: Any) -> None:
    """Texts become quantities, arrays tuples."""
    assert kind.read(node(text)) == value


def test_a_file_is_looked_for_beside_the_spec(tmp_path: pathlib.Path) -> None:
    """Relative names start at the spec, absolute ones stay; a directory is no file."""
    (tmp_path / "a.trace").write_text("1\n")
    assert kinds.FILE.read(node("a.trace", tmp_path)) == tmp_path / "a.trace"
    assert kinds.FILE.read(node(str(tmp_path / "a.trace"))) == tmp_path / "a.trace"
    with pytest.raises(ValueError, match="there is no file"):
        kinds.FILE.read(node(".", tmp_path))


@pytest.mark.parametrize(
    "kind", [kinds.RATE, kinds.SIZE, kinds.DELAY, kinds.TIME, kinds.INSTANT, kinds.TIMEOUT, kinds.SHARE]
)
def test_the_example_in_an_error_can_be_copied(kind: Kind[Any]) -> None:
    """What is offered is itself taken."""
    kind.read(node(kind.wanted.split('"')[1]))
