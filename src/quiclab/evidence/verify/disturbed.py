# SPDX-License-Identifier: Apache-2.0
"""The laboratory's share in a trial's time beside what the study tolerates.

`accounting.disturbance` estimates it; decision 4 (docs/decisions/0004-how-late-is-too-late.md) says how well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.store.layout import TOLERATED

ROUGHLY = 0.1
"""Share that is tolerated at least where the critical path is not known: what no path can exceed is far more than what
was added."""
SPOILED = 0.2
"""Share that is tolerated at least in a trial that failed, in whatever way: beyond, the failure may be the laboratory's
fault."""
PREFIX = "disturbed: "
"""Begin of the reason of a trial to which the laboratory added too much time."""
_PARTS = {
    "link": "other programs used the CPU, so that packets left the link late",
    "repeats": "something was held up until it was taken for lost",
}


def bound_ns(document: Mapping[str, Any], disturbance: Mapping[str, Any]) -> int:
    """Time that the laboratory may have added to a trial that counts."""
    least = [float(document.get(TOLERATED, 1.0))]
    if disturbance["by"] == "bound":
        least.append(ROUGHLY)
    if document.get("own_failure") is not None:
        least.append(SPOILED)
    return round(max(least) * int(disturbance["time_ns"]))


def disturbance_problem(document: Mapping[str, Any]) -> str | None:
    """Say how much of a trial's time the laboratory added, and by what, where the study does not tolerate that.

    None also where nothing is known of it.
    """
    disturbance = document.get("disturbance")
    if not disturbance or disturbance["cost_ns"] <= bound_ns(document, disturbance):
        return None
    parts: Mapping[str, Mapping[str, int]] = disturbance["parts"]
    worst = max(parts, key=lambda part: parts[part]["cost_ns"])
    why = _PARTS.get(worst, f"the {worst} waited for a processor")
    time_ns, cost_ns = disturbance["time_ns"], disturbance["cost_ns"]
    most = "at most " if disturbance["by"] == "bound" else ""
    return f"{PREFIX}this machine added {most}{cost_ns / 1e6:.1f} ms ({100 * cost_ns / time_ns:.1f} %): {why}"
