# SPDX-License-Identifier: Apache-2.0
"""The laboratory's share in a trial's time beside what the study tolerates.

`accounting.disturbance` estimates it; decision 4 (docs/decisions/0004-how-late-is-too-late.md) says how well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SPOILED = 0.2
"""Share of its time that the laboratory may have added to a trial that failed: beyond, the failure may be its fault."""
_PARTS = {"link": "packets left the link late"}


def disturbance_problem(document: Mapping[str, Any]) -> str | None:
    """Say how much of a trial's time the laboratory added, and by what, where the study does not tolerate that.

    None also where nothing is known of it.
    """
    disturbance = document.get("disturbance")
    tolerated = document.get("tolerated")
    if not disturbance or tolerated is None:
        return None
    failed = document.get("failure") is not None
    most = max(tolerated, SPOILED) if failed else tolerated
    time_ns, cost_ns = disturbance["time_ns"], disturbance["cost_ns"]
    if cost_ns <= most * time_ns:
        return None
    parts: Mapping[str, Mapping[str, int]] = disturbance["parts"]
    worst = max(parts, key=lambda part: parts[part]["cost_ns"])
    why = _PARTS.get(worst, f"the {worst} waited for a processor")
    share = 100 * cost_ns / time_ns
    return f"disturbed: this machine added {cost_ns / 1e6:.1f} ms ({share:.1f} %), mostly because {why}"
