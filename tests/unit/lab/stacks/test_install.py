# SPDX-License-Identifier: Apache-2.0
"""What `--install` and `--uninstall` refuse, and what they leave on disk."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path

import pytest

from quiclab.lab.stacks import install as module
from quiclab.lab.stacks.catalogue import ITEMS, PREFERRED, Build, Tree
from quiclab.lab.stacks.install import _Installer, install, uninstall
from quiclab.model.errors import BusyError, HostError, SpecError


class Said(list[str]):
    """Keeps what is said."""

    def __call__(self, line: str) -> None:
        """One line."""
        self.append(line)


def test_unknown_names_are_refused_all_at_once_before_anything_is_done(tmp_path: Path) -> None:
    """Each with the closest one that exists."""
    with pytest.raises(SpecError) as raised:
        install(tmp_path / "stacks", ["ngnix", "curl", "zzz"], Said())
    assert raised.value.problems == ("ngnix: did you mean nginx?", "zzz: unknown")
    assert not (tmp_path / "stacks").exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Here its parent is a file."""
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="cannot be written"):
        install(tmp_path / "file" / "stacks", ["curl"], Said())


def test_a_folder_that_no_list_of_folders_can_hold_is_refused(tmp_path: Path) -> None:
    """The loader separates its folders by colons."""
    with pytest.raises(HostError, match="colon"):
        install(tmp_path / "a:b", ["curl"], Said())


def test_two_at_once_are_one_too_many(tmp_path: Path) -> None:
    """The second says so, and leaves the folder alone."""
    with (tmp_path / ".made-by-quiclab").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BusyError):
            install(tmp_path, ["curl"], Said())
        with pytest.raises(BusyError):
            uninstall(tmp_path, Said())
    assert tmp_path.exists()


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt-get, which this machine lacks")
def test_an_optional_release_may_be_missing_unless_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a mirror that has nothing: the reason is told, and the exit code follows what was asked for."""
    monkeypatch.setattr(module, "mirror", lambda: f"file:{tmp_path / 'mirror'}")
    said = Said()
    tree = next(item for item in ITEMS if isinstance(item, Tree) and item.optional and item.suites)
    assert _Installer(tmp_path, said).install(tree, by_name=False)
    assert any("not installed: the mirror does not have what was asked for" in line for line in said)
    assert not _Installer(tmp_path, said).install(tree, by_name=True)
    assert not (tmp_path / tree.name).exists()


def test_programs_of_several_releases_come_from_the_preferred_one(tmp_path: Path) -> None:
    """`bin` follows what is there: the second choice until the first one comes."""
    for name in ("trixie", "sid"):
        program = tmp_path / name / "usr" / "sbin" / "haproxy"
        program.parent.mkdir(parents=True)
        if name == "trixie":
            program.touch()
    _Installer(tmp_path, Said()).link_programs()
    assert (tmp_path / "bin" / "haproxy").resolve() == tmp_path / "trixie" / "usr" / "sbin" / "haproxy"
    (tmp_path / "sid" / "usr" / "sbin" / "haproxy").touch()
    _Installer(tmp_path, Said()).link_programs()
    assert (tmp_path / "bin" / "haproxy").resolve() == tmp_path / "sid" / "usr" / "sbin" / "haproxy"


def test_uninstall_removes_only_what_was_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of somebody else's is neither filled nor removed, whatever QUICLAB_STACKS says."""
    monkeypatch.setattr(module.wheels, "uninstall", lambda project: 0)
    foreign, ours = tmp_path / "foreign", tmp_path / "ours"
    foreign.mkdir()
    (foreign / "letter").touch()
    (ours / "trixie").mkdir(parents=True)
    (ours / ".made-by-quiclab").touch()
    with pytest.raises(HostError, match="something else"):
        install(foreign, ["curl"], Said())
    with pytest.raises(HostError, match="something else"):
        uninstall(foreign, Said())
    assert [file.name for file in foreign.iterdir()] == ["letter"]
    uninstall(ours, Said())
    assert not ours.exists()
    said = Said()
    uninstall(ours, said)
    assert said == [f"nothing is installed in {ours}"]


def test_every_program_of_several_releases_has_a_preferred_one() -> None:
    """Else the order of the catalogue would decide by accident."""
    homes: dict[str, set[str]] = {}
    for tree in (item for item in ITEMS if isinstance(item, Tree)):
        for binary in tree.binaries:
            homes.setdefault(binary.name, set()).add(tree.name)
    several = {name: trees for name, trees in homes.items() if len(trees) > 1}
    assert {name: set(order) for name, order in PREFERRED.items()} == several


def test_the_sources_of_our_own_programs_are_part_of_the_project() -> None:
    """The catalogue names folders that exist, each with its lock file."""
    for build in (item for item in ITEMS if isinstance(item, Build)):
        lock = {"cargo": "Cargo.lock", "go": "go.sum"}[build.compiler]
        assert (module.SUPPLIES / build.source / lock).is_file()
