# SPDX-License-Identifier: Apache-2.0
"""Document of `quiclab run --json`: how the trials of a study ended, by its ledger, and what they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quiclab.cli.as_json import as_json
from quiclab.cli.status_document import VERSION, TrialCounts
from quiclab.model.study import Study
from quiclab.store.layout import DAMAGED, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.sequential_run import planned_trials

if TYPE_CHECKING:
    from quiclab.cli.documents import ReportDocument


def counts(study: Study, study_dir: StudyDir) -> TrialCounts:
    """Return how the planned trials ended, each by its last attempt."""
    planned = {row.trial_id for row in planned_trials(study, study_dir)}
    with open_ledger(study_dir) as ledger:
        last = {trial_id: tries[-1].status for trial_id, tries in ledger.attempts().items() if trial_id in planned}
        last |= {trial_id: DAMAGED for trial_id in ledger.damaged() if trial_id in planned}
    return trial_counts([last.get(trial_id) for trial_id in planned])


def trial_counts(ended: Sequence[str | None]) -> TrialCounts:
    """Count how planned trials ended; None stands for those that were not tried."""
    number = Counter(ended)
    return TrialCounts(
        planned=len(ended),
        verified=number["verified"],
        failed=number["failed"],
        unproven=number["unproven"],
        void=number["void"],
        damaged=number[DAMAGED],
        not_run=number[None],
    )


def run_document(study_dir: StudyDir, code: int, trials: TrialCounts, result: ReportDocument | None) -> Any:
    """Return the document as JSON has it."""
    from quiclab.cli.documents import RunDocument  # imported late: it takes as long as an analysis

    return as_json(RunDocument(VERSION, str(study_dir.root), int(code), trials, result))
