# SPDX-License-Identifier: Apache-2.0
"""One attempt at a trial that has run: it is decoded once, judged by what was decoded, kept, and its tables are made.

The folder is in place before the ledger says so, and the ledger says so before there are tables. A run that is ended
between two of these leaves a trial without tables, which `study.tables` makes, and never tables without their trial.
So does a mistake of quiclab's own in one trial's tables: it does not end a run of hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from quiclab.evidence.metrics import evidence_of
from quiclab.evidence.verify.trial import judge
from quiclab.evidence.verify.unreadable import judge_as_unreadable
from quiclab.logs.decoders import decode_trial, with_verdict
from quiclab.model.trial_record import EstimatedDisturbance, TrialRecord
from quiclab.store.disk import move_in, read_object
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import Ledger
from quiclab.store.record_form import as_trial
from quiclab.study.blocks import Settle, Settled
from quiclab.study.trial_tables import a_run_goes_on, keep_tables
from quiclab.why.account import account_table, disturbance_of


@dataclass(frozen=True)
class Judged:
    """An attempt with its verdict, not kept yet."""

    folder: Path
    attempt: Attempt
    tables: Mapping[str, pl.DataFrame]
    """Tables of the attempt's logs, with the verdict."""
    account: pl.DataFrame | None
    """The table `account`, without mechanisms; None where it was not made."""


def judge_attempt(folder: Path, trial_id: str, number: int) -> Judged:
    """Decode what an attempt left in `folder`, and judge it.

    An attempt whose logs cannot be judged has failed, and no more: they may be anybody's. If that is a mistake of
    quiclab's own, the trace in `MISTAKE` tells where it is.
    """
    try:
        return _judge(folder, trial_id, number)
    except Exception as error:
        if not folder.is_dir():
            raise
        verdict = judge_as_unreadable(folder, error)
        return Judged(folder, Attempt(trial_id, number, verdict.status, verdict.reason), {}, None)


def _judge(folder: Path, trial_id: str, number: int) -> Judged:
    tables = decode_trial(folder).tables
    weighed = Weighed(tables)
    verdict = judge(folder, tables, weighed.disturbance)
    attempt = Attempt(trial_id, number, verdict.status, verdict.reason)
    return Judged(folder, attempt, with_verdict(tables, folder), weighed.account)


@dataclass
class Weighed:
    """Time that the laboratory added to an attempt, by the account of the attempt."""

    tables: Mapping[str, pl.DataFrame]
    account: pl.DataFrame | None = None

    def disturbance(self, trial: TrialRecord) -> EstimatedDisturbance | None:
        """Estimate it for a trial with its proof; None where it is not known.

        A mistake of quiclab's own in the account leaves it unknown: it does not end a run of hours.
        """
        found = None
        with a_run_goes_on():
            evidence = evidence_of(self.tables, trial)
            self.account = account_table(evidence)
            found = disturbance_of(evidence, self.account)
        return None if found is None else found.record()


def keep_attempt(study_dir: StudyDir, ledger: Ledger, judged: Judged) -> Path | None:
    """Move the attempt into the study and enter it into the ledger; a verified one gets its tables.

    Returns where an incomplete folder that stood in its place was moved to. Raises HostError where the disk refuses.
    """
    attempt = judged.attempt
    trial = as_trial(read_object(judged.folder / "trial.json")) if attempt.status == "verified" else None
    # A run that was ended may have left tables of an attempt before this one.
    study_dir.drop_tables(attempt.trial_id)
    aside = move_in(judged.folder, study_dir.folder(attempt))
    ledger.record(attempt)
    if trial is not None:
        with a_run_goes_on():
            keep_tables(study_dir, attempt.trial_id, judged.tables, trial, judged.account)
    return aside


def settler(study_dir: StudyDir, ledger: Ledger) -> Settle:
    """Judge and keep attempts in this process."""

    def settle(folder: Path, trial_id: str, number: int) -> Settled:
        judged = judge_attempt(folder, trial_id, number)
        return Settled(judged.attempt, keep_attempt(study_dir, ledger, judged))

    return settle
