# SPDX-License-Identifier: Apache-2.0
"""What client, proxy and server pay: processor, memory, kernel and system calls (Benoit and Holland 2020, Figure 2)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _table


class Cost:
    """A row per arm and program."""

    name = "cost"
    question = "What does each arm cost its client, proxy and server in processor time, memory and system calls?"
    tables = ("trials/*/trial.json", "system-calls/*.json")
    columns = {  # noqa: RUF012 - a constant of the class
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

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per row of the table."""
        headings = (
            "cell", "arm", "program", "trials", "CPU", "user", "system", "peak memory", "context switches",
            "page faults", "system calls",
        )  # fmt: skip
        return _table.draw(headings, data.select(*self.columns).rows(), words=3)
