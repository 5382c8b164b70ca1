# SPDX-License-Identifier: Apache-2.0
"""The installed programs, each run as endpoints are: nothing in the environment but what its launch asks for."""

from __future__ import annotations

import shutil

import pytest

from quiclab.lab.endpoints._stacks import find_below
from quiclab.lab.stacks.catalogue import ITEMS, Binary, Build, Item, Tree, Wheels
from quiclab.lab.stacks.install import version
from quiclab.project import stacks_folder

INSTALLED = [(item, binary) for item in ITEMS if not isinstance(item, Wheels) for binary in item.binaries]


@pytest.mark.parametrize(
    ("item", "binary"), INSTALLED, ids=[f"{item.name}-{binary.name}" for item, binary in INSTALLED]
)
def test_an_installed_program_runs_and_tells_its_version(item: Item, binary: Binary) -> None:
    """With its own loader and libraries where it has them."""
    folder = stacks_folder() if isinstance(item, Build) else stacks_folder() / item.name
    if not (folder / binary.path).is_file():
        if isinstance(item, Tree) and not item.suites and shutil.which(binary.name):
            pytest.skip("it is the machine's own, and nothing was installed in its place")
        if item.optional:
            pytest.skip(f"{item.name} is optional, and was not to be had")
        pytest.skip(f"{binary.name} of {item.name} is not installed: make stacks")
    started = find_below(folder, binary.name)
    assert started is not None
    assert started.path == str(folder / binary.path)
    assert version(binary, started)[0].isdigit()
