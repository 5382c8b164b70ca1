# SPDX-License-Identifier: Apache-2.0
"""Tables that a verb needs of a study: those that no report has made yet, as after `quiclab run --no-report`, and those
that another version of quiclab made, as far as the logs are there to make them anew."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from quiclab.model.errors import BusyError, DecodeError, HostError
from quiclab.store.layout import StudyDir


def make_needed_tables(directory: Path) -> None:
    """Make the tables of a study where they lack trials that its ledger has, have them in another state than their
    files are in by now, or are those of another version.

    Where that cannot be done (a run works in the study, nothing can be written there, or logs were not kept) tables
    that are there are used as they are, which is told on standard error. Raises HostError where there are none, and
    DecodeError for a ledger that is damaged: which trials count would not be known.
    """
    _make(directory)
    from quiclab.evidence.made_by import told_of_versions

    for told in told_of_versions(directory.resolve()):
        print(f"quiclab: {told}", file=sys.stderr)


def _make(directory: Path) -> None:
    study_dir = StudyDir(directory.resolve())
    if not study_dir.ledger.exists():  # tables alone, as in an archive for readers
        return
    lacking = _lacking(study_dir)
    if not lacking:
        return
    from quiclab.cli.analyse import make_tables_visibly
    from quiclab.cli.console import VisibleConsole
    from quiclab.model.number_text import counted

    there = (study_dir.tables / "trials.parquet").is_file() and study_dir.metrics.is_file()
    why = "which have none, those of another version, or those of files that have changed"
    told = f"quiclab: making tables of {counted(lacking, 'trial')}, {why}"
    print(told, file=sys.stderr)
    try:
        with study_dir.locked():
            make_tables_visibly(study_dir, VisibleConsole(stderr=True))
    except HostError as error:
        if not there:
            raise
        why = "a run is working in this study" if isinstance(error, BusyError) else error.message
        print(f"quiclab: {why}: what follows uses the tables that are there", file=sys.stderr)


def _lacking(study_dir: StudyDir) -> int:
    """Number of planned trials whose last attempt the tables do not have, have in another state (its files were lost
    since, or are whole again), or have as another version of quiclab made them; none where a table cannot be read,
    which those who read it tell. Raises DecodeError for a damaged ledger."""
    import polars as pl

    from quiclab.evidence.made_by import made_by_another_version
    from quiclab.store.layout import DAMAGED
    from quiclab.store.ledger import look_into_ledger
    from quiclab.store.own_files import is_own_file, open_own
    from quiclab.study.tables_on_disk import has_tables

    trials = study_dir.tables / "trials.parquet"
    with look_into_ledger(study_dir) as ledger:
        planned = {row["trial_id"] for row in ledger.rows()}
        attempts = {each: tries[-1] for each, tries in ledger.attempts().items() if each in planned}
        damaged = ledger.damaged()
    with suppress(DecodeError, OSError, pl.exceptions.PolarsError):
        last = {(each, attempt.attempt) for each, attempt in attempts.items()}
        if not (is_own_file(trials, study_dir.root) and study_dir.metrics.is_file()):
            return len(last)
        with open_own(trials) as file:  # by its name Polars reads no file of a folder whose name is not UTF-8
            rows = pl.read_parquet(file, columns=["trial_id", "attempt", "status"]).iter_rows()
        there = {(trial_id, attempt): status == DAMAGED for trial_id, attempt, status in rows}
        verified = [each for each, attempt in attempts.items() if attempt.status == "verified"]
        other = {each for each in made_by_another_version(study_dir.root, verified) if _can_be_decoded(study_dir, each)}
        changed = {
            each
            for each, attempt in last & there.keys()
            # Logs that are whole and cannot be read give no tables, however often they are made.
            if there[each, attempt] != (each in damaged) and (each in damaged or has_tables(study_dir, each))
        }
        return len({each for each, _ in last - there.keys()} | changed | other)
    return 0


def _can_be_decoded(study_dir: StudyDir, trial_id: str) -> bool:
    """True if the logs of a trial are there, whole, and what opens them."""
    from quiclab.store.layout import damage, read_trial

    folder = study_dir.trial(trial_id)
    trial = read_trial(folder)
    if trial is None or trial.logs_left_out or trial.keys_left_out:
        return False
    return not damage(folder)
