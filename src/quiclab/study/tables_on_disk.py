# SPDX-License-Identifier: Apache-2.0
"""Tables of single trials that a study has: which are there, whole, and made by this version of quiclab.

It knows nothing of how they are made, so that a verb which only reads them need not import that.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from quiclab.evidence.made_by import made_by, tables_made_by
from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.store.layout import StudyDir
from quiclab.store.parquet import is_whole

KNOWN = {**OF_STUDY, **TABLES}
"""Every table, by name."""


def without_tables(study_dir: StudyDir, trials: Iterable[str]) -> list[str]:
    """Return the trials, among these, that no tables have been made of yet."""
    return [trial_id for trial_id in trials if not table_file(study_dir, "metrics", trial_id).exists()]


def kept_metrics(study_dir: StudyDir, trial_id: str) -> pl.DataFrame | None:
    """The metrics of a trial, of whatever version; None where they are not there or cannot be read."""
    file = table_file(study_dir, "metrics", trial_id)
    try:
        return pl.read_parquet(file, glob=False) if is_whole(file) else None
    except (OSError, pl.exceptions.PolarsError):
        return None


def has_tables(study_dir: StudyDir, trial_id: str) -> bool:
    """True if every table that the study has is there of this trial, whole, and made by this version of quiclab."""
    names = [name for name in KNOWN if name == "metrics" or (study_dir.tables / name).is_dir()]
    if not all(is_whole(table_file(study_dir, name, trial_id)) for name in names):
        return False
    return tables_made_by(study_dir.root, trial_id) == made_by()


def har_file(study_dir: StudyDir, trial_id: str) -> Path:
    """File with the load of a page in a trial."""
    return study_dir.tables / "har" / f"{trial_id}.har"


def table_file(study_dir: StudyDir, table: str, trial_id: str) -> Path:
    """File with the rows of a table in a trial."""
    return study_dir.tables / table / f"{trial_id}.parquet"
