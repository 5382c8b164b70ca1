# SPDX-License-Identifier: Apache-2.0
"""System calls of each arm's programs as a table of the page."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.model import number_text
from quiclab.model.system_call_record import ProgramCalls, SystemCalls
from quiclab.model.text_table import TextTable

_MOST_FREQUENT = 5


def system_call_table(counts: Mapping[str, SystemCalls]) -> TextTable:
    """One row per arm and program, or the reason why there are no counts."""
    rows: list[tuple[str, ...]] = []
    for arm, count in counts.items():
        if count.unsupported is not None:
            rows.append((arm, "–", "–", "–", f"unsupported: {count.unsupported}"))
        rows += [(arm, role, *_count_cells(told, count)) for role, told in count.roles.items()]
    cells = {(count.workload, count.path or "") for count in counts.values() if count.workload is not None}
    where = " and ".join(f"{workload} over {path}" for workload, path in sorted(cells))
    return TextTable(
        "System calls",
        "Over each program's whole life, from its start to its end, in one trial of each arm that was not timed"
        + (f": {where}." if where else "."),
        ("arm", "program", "calls", "per MB of body", "most frequent"),
        tuple(rows),
        "They were to be counted, but have not been yet: run the study again.",
    )


def _count_cells(told: ProgramCalls, count: SystemCalls) -> tuple[str, str, str]:
    if told.unsupported is not None:
        return "–", "–", f"unsupported: {told.unsupported}"
    frequent = list(told.calls.items())[:_MOST_FREQUENT]
    names = ", ".join(f"{name} {number_text.count(calls)}" for name, calls in frequent)
    wrong = "" if count.body_right else f" (the transfer went wrong: {count.problem})"
    return number_text.count(told.total), number_text.count(told.calls_per_mb), names + wrong
