# SPDX-License-Identifier: Apache-2.0
"""Cost of client, proxy and server: processor, memory, kernel and system calls (Benoit and Holland 2020, Figure 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.cost import cost_data
from quiclab.compare.metric_values import middle
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.system_calls import read_counts
from quiclab.model import number_text
from quiclab.model.system_call_record import SystemCalls
from quiclab.report.figures import _table
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked


def _seconds(value: float) -> str:
    return number_text.quantity(1000 * value, "ms")


NOT_MEASURED = "–"
_ROLES = ("client", "proxy", "server")
WRITTEN: Mapping[str, tuple[str, Callable[[float], str]]] = MappingProxyType(
    {
        "cpu_s": ("CPU", _seconds),
        "user_s": ("user", _seconds),
        "system_s": ("system", _seconds),
        "peak_memory_bytes": ("peak memory", lambda value: number_text.quantity(value / 1e6, "MB")),
        "context_switches": ("context switches", number_text.count),
        "page_faults": ("page faults", number_text.count),
        "threads": ("threads", number_text.count),
    }
)
"""Column of `cost_data`: its heading, and how a median is written."""
_COLUMNS = ("cell", "arm", "role", "trials", "cpu", "user", "system", "memory", "switches", "faults")
_SCHEMA = dict.fromkeys((*_COLUMNS, "calls"), pl.String)


class Cost(Figure):
    """A row per arm and program."""

    name = "cost"
    question = "What does each arm cost its client, proxy and server in processor time, memory and system calls?"
    where = Where.PAGE
    tables = ("trials/*/trial.json", "system-calls/*.json")
    columns: ClassVar = {
        "cell": "network and size; empty where it is that of the row above",
        "arm": "the arm; empty where it is that of the row above",
        "role": "'client', 'proxy' or 'server'",
        "trials": "verified trials: all but the system calls are medians over them",
        "cpu": "processor time from the request to the client's end",
        "user": "its part in the program",
        "system": "its part in the kernel",
        "memory": "the most memory at any time",
        "switches": "context switches",
        "faults": "page faults",
        "calls": "system calls over the program's life, in one trial that was not timed",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return `cost_rows`, each cell and arm named once, with system calls where they were counted."""
        counts = read_counts(asked.files)
        places = _cell_names(asked.analysis)
        rows: list[dict[str, str]] = []
        named = ("", "")
        for row in cost_rows(cost_data(asked.files), asked.analysis):
            told = dict(zip(_COLUMNS, row, strict=False))
            here = (told["cell"], told["arm"])
            count = counts.get(told["arm"], SystemCalls())
            counted = count.roles.get(told["role"])
            is_here = places.get(f"{count.workload}/{count.path}") == told["cell"]
            is_told = counted is not None and counted.unsupported is None and is_here
            told["calls"] = number_text.count(counted.total) if counted is not None and is_told else "–"
            told["cell"] = "" if here[0] == named[0] else here[0]
            told["arm"] = "" if here == named else here[1]
            named = here
            rows.append(told)
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per row of the table."""
        headings = (
            "cell", "arm", "program", "trials", "CPU", "user", "system", "peak memory", "context switches",
            "page faults", "system calls",
        )  # fmt: skip
        return _table.draw(headings, data.select(*self.columns).rows(), words=3)


def cost_rows(costs: pl.DataFrame, analysis: StudyAnalysis) -> list[tuple[str, ...]]:
    """Return (cell, arm, program, trials, then the medians of `costs` as `WRITTEN` has them) as text."""
    places, arms = _cell_names(analysis), analysis.arms
    groups = {(str(c), str(a), str(r)): group for (c, a, r), group in costs.group_by("cell_id", "arm", "role")}
    rows = []
    for cell_id, arm, role in sorted(groups, key=lambda key: _order(key, list(places), arms)):
        group = groups[cell_id, arm, role]
        medians = (
            write(middle(known)) if (known := group[column].drop_nulls()).len() else NOT_MEASURED
            for column, (_, write) in WRITTEN.items()
        )
        rows.append((places.get(cell_id, cell_id), arm, role, str(group.height), *medians))
    return rows


def _cell_names(analysis: StudyAnalysis) -> dict[str, str]:
    return {cell_id: comparison_words.cell_name(cell.place, analysis) for cell_id, cell in analysis.cells().items()}


def _order(key: tuple[str, str, str], *orders: list[str]) -> list[tuple[int, str]]:
    """Cells, arms and roles in the order of the other tables; what these do not name comes last."""
    every = zip(key, (*orders, _ROLES), strict=True)
    return [(order.index(name) if name in order else len(order), name) for name, order in every]
