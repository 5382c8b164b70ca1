# SPDX-License-Identifier: Apache-2.0
"""The tables of one verified trial: made of its decoded logs, and written so that they count only when all are there.

Its metrics are written last. Their file says which version of quiclab made the tables (`tables_on_disk.py` reads it).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from quiclab.evidence.made_by import MADE_BY, made_by
from quiclab.evidence.metrics import evidence_of, made_tables, metrics_of
from quiclab.logs.exports import EXPORTS, Choice
from quiclab.model.errors import DecodeError, QuiclabError, SpecError
from quiclab.model.tables import OF_STUDY
from quiclab.model.trial_record import TrialRecord
from quiclab.store.disk import disk_errors
from quiclab.store.layout import StudyDir
from quiclab.store.parquet import write_parquet
from quiclab.study.tables_on_disk import KNOWN, har_file, table_file
from quiclab.why.account import account_table, account_totals
from quiclab.why.mechanisms import with_mechanisms
from quiclab.why.prediction import predicted_effects

_ACCOUNTS = ("raw/client-trace.json", "raw/client-page.har")
"""A browser's own accounts of a page's load, the better one first."""


def keep_tables(
    study_dir: StudyDir,
    trial_id: str,
    decoded: Mapping[str, pl.DataFrame],
    trial: TrialRecord,
    account: pl.DataFrame | None = None,
) -> None:
    """Make and write all tables of a trial: those of `tables_of`, and the load of a page as HAR."""
    tables = tables_of(trial_id, decoded, trial, account)
    files = {name: table_file(study_dir, name, trial_id) for name in tables}
    with disk_errors(study_dir.tables):
        files["metrics"].unlink(missing_ok=True)
        if trial.expected.page is not None:
            write_har(har_file(study_dir, trial_id), tables)
    for name, table in tables.items():
        stored_table_differences = {MADE_BY: made_by()} if name == "metrics" else {}
        write_parquet(table, files[name], KNOWN[name].metadata | stored_table_differences)


def tables_of(
    trial_id: str,
    decoded: Mapping[str, pl.DataFrame],
    trial: TrialRecord,
    account: pl.DataFrame | None = None,
) -> dict[str, pl.DataFrame]:
    """Make all tables of a trial. `decoded` is of `decode_trial`, `trial` its record; `account` is of
    `account_table`, where it was made before."""
    evidence = evidence_of(decoded, trial)
    metrics = pl.DataFrame(metrics_of(evidence, trial_id), OF_STUDY["metrics"].schema(), orient="row")
    account, facts = with_mechanisms(evidence, account_table(evidence) if account is None else account)
    accounts = {
        "account": account,
        "account_totals": account_totals(account),
        "mechanism_facts": facts,
        "predicted_effects": predicted_effects(evidence, account),
    }
    return {**decoded, **made_tables(evidence), **accounts, "metrics": metrics}


@contextlib.contextmanager
def a_run_goes_on() -> Iterator[None]:
    """Leave a trial without tables where making them meets a mistake of quiclab's own, which a report meets again.

    Errors that a user can meet, such as a full disk, are raised.
    """
    try:
        yield
    except (QuiclabError, OSError, MemoryError):
        raise
    except Exception:  # told when the run is over, by `without_tables`
        return


def write_har(file: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """The load of a page as the browser's own account tells it; none where that has no request."""
    sources = set(tables["http_requests"]["source"])
    source = next((each for each in _ACCOUNTS if each in sources), None)
    if source is None:
        return
    file.parent.mkdir(exist_ok=True)
    har = next(export for export in EXPORTS if export.format == "har")
    with contextlib.suppress(DecodeError, SpecError):
        har.write({name: table.lazy() for name, table in tables.items()}, Choice(source=source), file)
