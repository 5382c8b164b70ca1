# SPDX-License-Identifier: Apache-2.0
"""Trials whose endpoints failed in every attempt, in blocks that the laboratory disturbed in every attempt.

Such a block counts for nothing, but a program that never did what was asked has failed, whatever else was disturbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from quiclab.model.plan_row import PlanRow, by_block
from quiclab.store.layout import WITH_ITS_BLOCK, Attempt, StudyDir, judged_document
from quiclab.store.ledger import Ledger
from quiclab.store.record_form import view_of
from quiclab.store.trial_views import TrialRegister, TrialShortcomings

_LEAST_ATTEMPTS = 2
"""Attempts that show a failure that is nobody else's, where each of them was disturbed itself."""
_SAID = "failed in every attempt, though its block was disturbed: "


def fail_what_never_worked(study_dir: StudyDir, ledger: Ledger, rows: Iterable[PlanRow]) -> int:
    """Call failed, in the ledger, each trial of a block that stayed void that failed in every attempt by its endpoints'
    doing. Returns how many there are."""
    attempts, number = ledger.attempts(), 0
    for block in by_block(rows).values():
        tries = [attempts[row.trial_id] for row in block if row.trial_id in attempts]
        if not any(each[-1].status == "void" for each in tries):
            continue
        for each in tries:
            if (reason := failure_throughout(study_dir, each)) is not None:
                number += 1
                ledger.overrule(each[-1], "failed", said(reason))
    return number


def failure_throughout(study_dir: StudyDir, tries: Sequence[Attempt]) -> str | None:
    """Return how the last of a trial's attempts failed by its endpoints' doing, if each of them did; else None."""
    documents = [judged_document(study_dir.folder(each)) for each in tries]
    failures = [None if document is None else failure_of(document) for document in documents]
    sure = len(failures) >= _LEAST_ATTEMPTS or any(
        each is not None and each["status"] == "failed" for each in documents
    )
    return failures[-1] if sure and all(failures) else None


def failure_of(document: Mapping[str, object]) -> str | None:
    """Return how an attempt failed by its endpoints' doing, by its trial.json, also where it is void; None where it did
    not."""
    found, register = view_of(document, TrialShortcomings), view_of(document, TrialRegister)
    if found is not None and found.own_failure:
        return found.own_failure
    return register.reason if register is not None and register.status == "failed" else None


def said(failure: str) -> str:
    """The reason of such a trial, from how its last attempt failed."""
    return _SAID + failure


def voids_its_block(attempt: Attempt) -> bool:
    """True if an attempt was void by a reason of its own, or may have been before its trial was called failed."""
    return (attempt.status == "void" and attempt.reason not in WITH_ITS_BLOCK) or attempt.reason.startswith(_SAID)
