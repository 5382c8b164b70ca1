# SPDX-License-Identifier: Apache-2.0
"""A Chromium for the tests of this folder: it starts, and compiles the library of figures, once for all files."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from chromium import started

_OPEN = ExitStack()
_CHROMIUM: list[Any] = []


@pytest.fixture
def browser() -> Any:
    """The Chromium, started by the first test that needs it."""
    if not _CHROMIUM:
        _CHROMIUM.append(_OPEN.enter_context(started()))
    return _CHROMIUM[0]


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close it where a test of another folder follows: it has an event loop, beside which no other can run."""
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        _CHROMIUM.clear()
        _OPEN.close()
