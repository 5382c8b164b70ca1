# SPDX-License-Identifier: Apache-2.0
"""Parts that every page is made of, whether a spec, a mix or a recording describes it."""

from __future__ import annotations

from typing import Literal

ResourceType = Literal["style", "script", "image", "font", "data"]

MOST_RESOURCES = 2000
"""Most resources of one page."""
MOST_HOSTS = 100
"""Most hosts of one page, each with an address of its own."""
LEAST_BYTES = {"style": 64, "script": 64, "image": 1024, "font": 1024, "data": 64}
"""Least size of a valid resource of each type."""
