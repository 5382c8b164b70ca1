# SPDX-License-Identifier: Apache-2.0
"""The cost of each arm's programs as a table of the page."""

from __future__ import annotations

import polars as pl

from quiclab.compare.model import StudyAnalysis
from quiclab.model.text_table import TextTable
from quiclab.report.figures.cost import WRITTEN, cost_rows


def cost_table(data: pl.DataFrame, analysis: StudyAnalysis) -> TextTable:
    """Return medians of `cost_data`, one row per cell, arm and program."""
    return TextTable(
        "Processor, memory and kernel",
        "Medians over the n verified trials of a cell. CPU time, switches and faults: from the request to the client's "
        "end. User and system time are counted in steps of 10 ms, so they are shown from 50 ms of CPU time on. Memory "
        "and threads: the most at any time. –: not measured.",
        ("cell", "arm", "program", "n", *(heading for heading, _ in WRITTEN.values())),
        tuple(cost_rows(data, analysis)),
        "No trial recorded what its programs cost.",
    )
