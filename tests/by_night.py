# SPDX-License-Identifier: Apache-2.0
"""Cases of a test that are left to the night: others of their kind run with every push (docs/decisions/0011)."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.mark import ParameterSet


def by_night(*cases: Any) -> list[ParameterSet]:
    """Parameters marked `matrix`, one for each case; a tuple is the case of a test with several arguments.

    They stand beside those of every push: `["nginx", *by_night("haproxy", "envoy")]`.
    """
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.matrix) for case in cases]
