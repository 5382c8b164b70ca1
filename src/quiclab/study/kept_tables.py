# SPDX-License-Identifier: Apache-2.0
"""Tables that a study keeps, held against those that are made of its raw files and of its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from quiclab.model.errors import DecodeError
from quiclab.model.known_labels import with_current_names
from quiclab.model.tables import OF_STUDY
from quiclab.model.trial_record import TrialRecord
from quiclab.store.layout import StudyDir
from quiclab.store.own_files import is_own_file
from quiclab.study.counted_metrics import with_counts
from quiclab.study.differences import Difference, metric_differences, stored_table_differences, table_differences
from quiclab.study.tables import LedgerTrials, trials_table
from quiclab.study.tables_on_disk import har_file
from quiclab.study.trial_tables import write_har

OF_TRIALS = "the ledger and the tables of the trials"
"""Source of the tables of a whole study."""


def trial_table_differences(
    study_dir: StudyDir, trial_id: str, made: Mapping[str, pl.DataFrame], trial: TrialRecord
) -> list[Difference]:
    """Differences between the tables of a trial that the study keeps and those that were made."""
    found: list[Difference] = []
    for name, table in made.items():
        file, place = study_dir.tables / name / f"{trial_id}.parquet", f"tables/{name}"
        if not is_own_file(file, study_dir.root):
            if table.height and (study_dir.tables / name).is_dir():
                found.append(Difference(place, "rows", "none", str(table.height)))
            continue
        try:
            kept = with_current_names(pl.read_parquet(file, glob=False))
        except (OSError, pl.exceptions.PolarsError) as error:
            found.append(Difference(place, "the file", f"cannot be read: {str(error).splitlines()[0]}", "a table"))
            continue
        found += metric_differences(place, kept, table) if name == "metrics" else table_differences(place, kept, table)
    kept_har = har_file(study_dir, trial_id)
    if trial.expected.page is not None and is_own_file(kept_har, study_dir.root):
        with TemporaryDirectory() as folder:
            made_har = Path(folder, "har", "made.har")
            write_har(made_har, made)
            if not made_har.is_file() or made_har.read_bytes() != kept_har.read_bytes():
                found.append(Difference(f"tables/har/{kept_har.name}", "the file", "as it is", "another content"))
    return found


def study_table_differences(study_dir: StudyDir, told: LedgerTrials) -> list[Difference]:
    """Differences between the tables of the whole study, as far as they were made, and those of its trials. Rows of
    damaged trials, which cannot be judged, are left out of both: they may have been whole when the tables were made."""
    found = list[Difference]()
    trials, metrics = study_dir.tables / "trials.parquet", study_dir.metrics
    with suppress(DecodeError):  # no trial yet
        if is_own_file(trials, study_dir.root):
            found += stored_table_differences(
                trials, trials_table(study_dir, told, {})[0], "tables/trials", told.damaged
            )
    if is_own_file(metrics, study_dir.root):
        files = [study_dir.tables / "metrics" / f"{each}.parquet" for each in told.counting]
        parts = [pl.read_parquet(each, glob=False) for each in files if is_own_file(each, study_dir.root)]
        made = with_counts(study_dir, pl.concat([OF_STUDY["metrics"].empty(), *parts]))
        found += stored_table_differences(metrics, made, "metrics.parquet", told.damaged)
    return [replace(each, by=OF_TRIALS) for each in found]
