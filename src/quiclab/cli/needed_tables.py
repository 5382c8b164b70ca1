# SPDX-License-Identifier: Apache-2.0
"""Tables that a verb needs of a study and that no report has made yet, as after `quiclab run --no-report`."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from quiclab.model.errors import BusyError, DecodeError, HostError
from quiclab.store.layout import StudyDir


def make_needed_tables(directory: Path) -> None:
    """Make the tables of a study where they lack trials that its ledger has.

    Where that cannot be done (a run works in the study, or nothing can be written there) tables that are there are used
    as they are, which is told on standard error. Raises HostError where there are none.
    """
    study_dir = StudyDir(directory.resolve())
    if not study_dir.ledger.is_file():
        return
    lacking = _lacking(study_dir)
    if not lacking:
        return
    from quiclab.cli.analyse import make_tables_visibly
    from quiclab.cli.console import VisibleConsole
    from quiclab.model.number_text import counted

    there = (study_dir.tables / "trials.parquet").is_file() and study_dir.metrics.is_file()
    print(f"quiclab: making the tables, which lack {counted(lacking, 'trial')}", file=sys.stderr)
    try:
        with study_dir.locked():
            make_tables_visibly(study_dir, VisibleConsole(stderr=True))
    except HostError as error:
        if not there:
            raise
        why = "a run is working in this study" if isinstance(error, BusyError) else error.message
        print(f"quiclab: {why}: what follows is without them", file=sys.stderr)


def _lacking(study_dir: StudyDir) -> int:
    """Number of planned trials whose last attempt the tables do not have; none where the ledger or a table cannot be
    read, which those who read it tell."""
    import polars as pl

    from quiclab.store.ledger import look_into_ledger
    from quiclab.store.own_files import is_own_file, open_own

    trials = study_dir.tables / "trials.parquet"
    with suppress(DecodeError, OSError, pl.exceptions.PolarsError):
        with look_into_ledger(study_dir) as ledger:
            planned = {row["trial_id"] for row in ledger.rows()}
            last = {(each, tries[-1].attempt) for each, tries in ledger.attempts().items() if each in planned}
        if not (is_own_file(trials, study_dir.root) and study_dir.metrics.is_file()):
            return len(last)
        with open_own(trials) as file:  # by its name Polars reads no file of a folder whose name is not UTF-8
            there = set(pl.read_parquet(file, columns=["trial_id", "attempt"]).iter_rows())
        return len(last - there)
    return 0
