# SPDX-License-Identifier: Apache-2.0
"""System calls of each arm's programs as a table of the page."""

from __future__ import annotations

from typing import Any

from quiclab.model import number_text
from quiclab.model.text_table import TextTable

_MOST_FREQUENT = 5


def system_call_table(counts: dict[str, dict[str, Any]]) -> TextTable:
    """One row per arm and program, or the reason why there are no counts."""
    rows: list[tuple[str, ...]] = []
    for arm, count in counts.items():
        if "unsupported" in count:
            rows.append((arm, "–", "–", "–", f"unsupported: {count['unsupported']}"))
        rows += [(arm, role, *_count_cells(told, count)) for role, told in count.get("roles", {}).items()]
    cells = {(count["workload"], count["path"]) for count in counts.values() if "workload" in count}
    where = " and ".join(f"{workload} over {path}" for workload, path in sorted(cells))
    return TextTable(
        "System calls",
        "Over each program's whole life, from its start to its end, in one trial of each arm that was not timed"
        + (f": {where}." if where else "."),
        ("arm", "program", "calls", "per MB of body", "most frequent"),
        tuple(rows),
        "They were to be counted, but have not been yet: run the study again.",
    )


def _count_cells(told: dict[str, Any], count: dict[str, Any]) -> tuple[str, str, str]:
    if "unsupported" in told:
        return "–", "–", f"unsupported: {told['unsupported']}"
    frequent = list(told["calls"].items())[:_MOST_FREQUENT]
    names = ", ".join(f"{name} {number_text.count(calls)}" for name, calls in frequent)
    wrong = "" if count.get("body_right") else f" (the transfer went wrong: {count.get('problem')})"
    return number_text.count(told["total"]), number_text.count(told["calls_per_mb"]), names + wrong
