# SPDX-License-Identifier: Apache-2.0
"""Skips, each with its reason, for what this machine cannot do."""

from __future__ import annotations

import functools
import subprocess
import sys

import pytest


@functools.cache
def _no_namespaces() -> str | None:
    code = "from quiclab.testbed.sandbox import run_in_sandbox; raise SystemExit(run_in_sandbox(lambda: 0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `netns` need user namespaces."""
    for item in items:
        if item.get_closest_marker("netns") and (why := _no_namespaces()) is not None:
            item.add_marker(pytest.mark.skip(reason=f"no namespaces here: {why}"))
