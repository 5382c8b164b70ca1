# SPDX-License-Identifier: Apache-2.0
"""Releases: the catalogue and the folders of their locks name the same ones, and every lock pins by hashes alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from quiclab.lab.endpoints import ENDPOINTS
from quiclab.lab.stacks.catalogue import ITEMS, RELEASE_ITEMS, Build, Environment
from quiclab.lab.stacks.environment import LOCK
from quiclab.lab.stacks.release_dates import release_dates
from quiclab.project import SUPPLIES, release_folder, release_name, releases_of

_BY_NAME = pytest.mark.parametrize("item", RELEASE_ITEMS, ids=lambda item: item.name)
_GO_SUM = re.compile(r"\S+ v\S+ h1:[A-Za-z0-9+/]{43}=")
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def _lock(item: Build | Environment) -> Path:
    name = LOCK if isinstance(item, Environment) else {"cargo": "Cargo.lock", "go": "go.sum"}[item.compiler]
    return SUPPLIES / item.source / name


def test_each_release_that_a_spec_can_name_can_be_installed() -> None:
    """The spec finds releases by their folders, the installer by the catalogue."""
    by_folder = {f"{name}@{version}" for name in {each.name for each in ENDPOINTS} for version in releases_of(name)}
    assert by_folder == {item.name for item in RELEASE_ITEMS}


def test_no_release_is_installed_unless_it_is_named() -> None:
    """A name is one of both lists, never of both at once."""
    everything = frozenset[str]().union(*(item.names for item in ITEMS))
    assert not everything & frozenset[str]().union(*(item.names for item in RELEASE_ITEMS))


@_BY_NAME
def test_a_release_lies_where_a_spec_looks_for_it(item: Build | Environment) -> None:
    """Each has a folder of its own."""
    folder = release_folder(*item.name.split("@"))
    assert str(folder).endswith(item.folder)
    assert release_name(str(folder)) == item.name
    assert release_name(str(folder.parents[2])) is None


@_BY_NAME
def test_every_line_of_a_lock_has_a_hash_and_no_address(item: Build | Environment) -> None:
    """A lock that names a host would be of one network only."""
    text = _lock(item).read_text()
    # A hash may have these three characters, too.
    assert not re.search(
        "(http|git|ssh|file)s?://", text.replace("registry+https://github.com/rust-lang/crates.io-index", "")
    )
    if isinstance(item, Environment):
        pinned = [line for line in text.splitlines() if "==" in line and not line.startswith((" ", "#"))]
        assert pinned
        assert all(_HASH.search(each) for each in re.split(r"^(?=\S+==)", text, flags=re.MULTILINE)[1:])
    elif item.compiler == "go":
        assert all(_GO_SUM.fullmatch(line.replace("/go.mod ", " ")) for line in text.splitlines())
    else:
        packages = tomllib.loads(text)["package"]
        assert all("checksum" in each for each in packages if "source" in each)


@_BY_NAME
def test_a_lock_pins_the_release_that_its_folder_names(item: Build | Environment) -> None:
    """The library or the program itself, not only what it needs."""
    program, version = item.name.split("@")
    text = _lock(item).read_text()
    if isinstance(item, Environment):
        assert re.search(rf"^{program}=={re.escape(version)} ", text, re.MULTILINE)
    elif item.compiler == "go":
        assert re.search(rf"/{program}(/v\d+)? v{re.escape(version)} h1:", text)
    else:
        assert version in [each["version"] for each in tomllib.loads(text)["package"] if each["name"] == program]


@pytest.mark.parametrize("program", sorted({item.name.partition("@")[0] for item in RELEASE_ITEMS}))
def test_every_release_has_its_date_and_versions_follow_their_dates(program: str) -> None:
    """A history is drawn over them; the newest of the file may be the program as it is now."""
    dates = release_dates(program)
    versions = releases_of(program)
    assert set(versions) <= dates.keys()
    assert sorted(dates, key=lambda version: [int(part) for part in version.split(".")]) == list(dates)
    assert list(dates.values()) == sorted(dates.values())
    assert len(dates) - len(versions) <= 1
