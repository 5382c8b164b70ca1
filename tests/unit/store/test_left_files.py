# SPDX-License-Identifier: Apache-2.0
"""Bounds on what programs of a trial leave."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from quiclab.store.left_files import Bounds, excess, is_of_laboratory, remove_tree, was_written_by_laboratory

BOUNDS = Bounds(length_bytes=1 << 20, entries=20, depth=4)


def _hole(folder: Path) -> None:
    (folder / "keys.log").touch()
    os.truncate(folder / "keys.log", 100 << 30)


def _several(folder: Path) -> None:
    for name in "abc":
        (folder / name).write_bytes(bytes(400_000))


def _many(folder: Path) -> None:
    for number in range(30):
        (folder / f"{number}.sqlog").touch()


def _deep(folder: Path) -> None:
    (folder / "a/b/c/d/e").mkdir(parents=True)


def _no_text(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.sqlog")).touch()


def _bomb(folder: Path) -> None:
    (folder / "bomb.sqlog.gz").write_bytes(gzip.compress(bytes(2 << 20)))


@pytest.mark.parametrize(
    ("leave", "told"),
    [
        (_hole, "files of more than"),
        (_several, "files of more than"),
        (_many, "more than 20 files"),
        (_deep, "nested deeper than 4"),
        (_no_text, "not UTF-8: \\xff.sqlog"),
        (_bomb, "unpack to more than"),
    ],
)
def test_too_much_is_told(tmp_path: Path, leave: Callable[[Path], None], told: str) -> None:
    """Wherever it lies."""
    (tmp_path / "client-qlog").mkdir()
    leave(tmp_path / "client-qlog")
    assert told in str(excess(tmp_path, BOUNDS))


def test_ordinary_logs_are_no_excess(tmp_path: Path) -> None:
    """Nor are links, FIFOs and a damaged archive, of which nothing is read."""
    (tmp_path / "client-qlog").mkdir()
    (tmp_path / "client-qlog" / "a.sqlog").write_bytes(bytes(1000))
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(os.urandom(1000))[:500])
    (tmp_path / "link").symlink_to("/")
    os.mkfifo(tmp_path / "pipe")
    assert excess(tmp_path, BOUNDS) is None


def test_a_folder_is_removed_however_deep_it_is(tmp_path: Path) -> None:
    """Deeper than any path may be long."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "left").mkdir()
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(tmp_path / "left")
        Path("link").symlink_to(outside)
        for _ in range(1500):
            Path("deeper").mkdir()
            os.chdir("deeper")
    finally:
        os.fchdir(before)
        os.close(before)
    assert "nested deeper than 4" in str(excess(tmp_path / "left", BOUNDS))
    remove_tree(tmp_path / "left")
    assert list(tmp_path.iterdir()) == [outside]
    remove_tree(tmp_path / "left")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("raw/client.pcapng", True),
        ("raw/link-2-server.pcapng", True),
        ("raw/link-next.qplog", True),
        ("raw/competitors/second/server.tcpinfo", True),
        ("trial.json", True),
        ("raw/trial.json", False),
        ("raw/client-qlog/client.pcapng", False),
        ("raw/client-files/link.qplog", False),
        ("raw/competitors/second/client-qlog/x.qplog", False),
        ("raw/client.sqlog", False),
    ],
)
def test_which_files_are_the_laboratorys(name: str, ours: bool) -> None:
    """The laboratory's files are known by place and name: where programs write, none has such a name."""
    assert was_written_by_laboratory(name) is ours


def test_a_name_is_the_laboratorys_packed_or_not() -> None:
    """A packed file stands for the plain one."""
    assert is_of_laboratory("link-next.qplog.gz")
    assert is_of_laboratory("server.pcapng.zst.gz")
    assert not is_of_laboratory("client.json.gz")
