# SPDX-License-Identifier: Apache-2.0
"""A Chromium for the tests of each file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from chromium import started


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of a file."""
    with started() as chromium:
        yield chromium
