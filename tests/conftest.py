# SPDX-License-Identifier: Apache-2.0
"""Skips, each with its reason, for what this machine cannot do; which tests may run beside others."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from required import pytest_runtest_makereport

__all__ = ["pytest_runtest_makereport"]

# Tests that run beside each other are meant to: none of them is told of another one.
os.environ["QUICLAB_MACHINE"] = f"tests-{os.getpid()}"

_KINDS = {"testbed": "packets", "e2e": "packets", "external": "packets", "nightly": "nightly"}
"""Markers that all tests of a folder below tests/ have."""
_TESTS = Path(__file__).parent


@functools.cache
def _no_namespaces() -> str | None:
    code = "from quiclab.lab.testbed.sandbox import run_in_sandbox; raise SystemExit(run_in_sandbox(lambda: 0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `netns` need user namespaces; what a test may run beside follows from its folder."""
    for item in items:
        kinds = [kind for folder, kind in _KINDS.items() if folder in item.path.relative_to(_TESTS).parts[:-1]]
        if item.get_closest_marker("netns"):
            kinds.append("packets")
        for kind in kinds:
            item.add_marker(kind)
        if item.get_closest_marker("netns") and (why := _no_namespaces()) is not None:
            item.add_marker(pytest.mark.skip(reason=f"no namespaces here: {why}"))
