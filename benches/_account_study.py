# SPDX-License-Identifier: Apache-2.0
"""One process that makes the accounts of many trials: the kept tables of a few real ones, over and over.

    python benches/_account_study.py STUDY TRIALS

Prints JSON: seconds of wall clock and CPU, and the largest memory so far after a tenth of the trials and after all.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from itertools import cycle, islice
from pathlib import Path

import polars as pl

from quiclab.compare.study import read_record
from quiclab.evidence.metrics import evidence_of
from quiclab.model.tables import TABLES
from quiclab.why.account import account_table, account_totals


def main() -> None:
    """Account for each trial in turn; every time its tables are read anew."""
    study, number = Path(sys.argv[1]), int(sys.argv[2])
    trials = sorted((study / "trials").iterdir())
    began, early_mb = time.monotonic(), 0.0
    for at, folder in enumerate(islice(cycle(trials), number)):
        files = {name: study / "tables" / name / f"{folder.name}.parquet" for name in TABLES}
        tables = {name: pl.read_parquet(file, glob=False) for name, file in files.items() if file.exists()}
        account = account_table(evidence_of(tables, read_record(folder)))
        if account_totals(account).is_empty():
            raise SystemExit(f"{folder.name} has no account")
        if at == max(len(trials), number // 10) - 1:
            early_mb = _largest_mb()
    took = {"wall_s": time.monotonic() - began, "cpu_s": time.process_time()}
    print(json.dumps(took | {"early_mb": early_mb, "largest_mb": _largest_mb()}))


def _largest_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
