# SPDX-License-Identifier: Apache-2.0
"""What every page is made of, whoever says so: a spec, a mix or a recording."""

from __future__ import annotations

from typing import Literal

ResourceType = Literal["style", "script", "image", "font", "data"]

MOST_RESOURCES = 2000
"""Of one page."""
MOST_HOSTS = 100
"""Of one page, each with an address of its own."""
LEAST_BYTES = {"style": 64, "script": 64, "image": 1024, "font": 1024, "data": 64}
"""Below this a resource of that type could not be valid."""
