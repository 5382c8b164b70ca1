# SPDX-License-Identifier: Apache-2.0
"""Raw files that were not kept: what can still be told of their trials, and what cannot, is said."""

from __future__ import annotations

import polars as pl

from quiclab.compare.study import Study, read_table
from quiclab.model import number_text

_COLUMNS = {"trial_id": pl.String, "status": pl.String, "logs_left_out": pl.String}


def raw_file_notes(study: Study) -> list[str]:
    """A sentence about attempts without raw files; none where all keep theirs, or an earlier version made the
    tables."""
    attempts = read_table(study.directory / "tables" / "trials.parquet", _COLUMNS, [])
    without = attempts.drop_nulls("logs_left_out")
    if without.is_empty():
        return []
    rules = ", ".join(sorted(set(without["logs_left_out"])))
    failed = without.filter(pl.col("status") != "verified").height
    others = f", or trial.json alone of {failed} that failed or were void" if failed else ""
    return [
        f"Logs and captures of {without.height} of {number_text.counted(attempts.height, 'attempt')} were not kept "
        f"(--keep-raw {rules}): their tables are all there is of them{others}, and no other program can look into them."
    ]
