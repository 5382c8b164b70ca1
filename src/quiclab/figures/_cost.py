# SPDX-License-Identifier: Apache-2.0
"""What the programs of each arm cost, with their system calls, in the columns of one table."""

from __future__ import annotations

import polars as pl

from quiclab import wording
from quiclab.analysis import comparison_words
from quiclab.analysis.cost import cost_data, cost_table
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.study import read_study
from quiclab.analysis.system_calls import read_counts
from quiclab.opened import OpenedStudy

_COLUMNS = ("cell", "arm", "role", "trials", "cpu", "user", "system", "memory", "switches", "faults")
COST = dict.fromkeys((*_COLUMNS, "calls"), pl.String)


def cost(study: OpenedStudy, analysis: StudyAnalysis) -> pl.DataFrame:
    """The rows of the report's table of costs, each cell and arm named once; calls where they were counted."""
    read = read_study(study.directory)
    counts = read_counts(read)
    places = {c.cell_id: comparison_words.place(c, analysis) for c in analysis.comparisons}
    rows: list[dict[str, str]] = []
    named = ("", "")
    for row in cost_table(cost_data(read), analysis).rows:
        told = dict(zip(_COLUMNS, row, strict=False))
        here = (told["cell"], told["arm"])
        count = counts.get(told["arm"], {})
        counted = count.get("roles", {}).get(told["role"], {})
        cell = places.get(f"{count.get('workload')}/{count.get('path')}")
        told["calls"] = wording.count(counted["total"]) if "total" in counted and cell == told["cell"] else "–"
        told["cell"] = "" if here[0] == named[0] else here[0]
        told["arm"] = "" if here == named else here[1]
        named = here
        rows.append(told)
    return pl.DataFrame(rows, schema=COST)
