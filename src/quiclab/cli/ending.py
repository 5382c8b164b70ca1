# SPDX-License-Identifier: Apache-2.0
"""The end of a run with blocks that were disturbed in every attempt: a good one, if other pairs decide their cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.model import number_text
from quiclab.model.errors import ExitCode
from quiclab.model.plan_row import PlanRow
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.disturbed import disturbed_blocks

if TYPE_CHECKING:
    from quiclab.cli.documents import ReportDocument
    from quiclab.cli.status_document import TrialCounts
    from quiclab.compare.model import Comparison


def code_at_the_end(code: int, study_dir: StudyDir, result: ReportDocument | None) -> int:
    """Return the exit code of a run that ended with `code`, and say which cells could not be judged.

    A cell that lacks pairs is judged all the same where its comparisons are decided; without a `result` none is.
    """
    if code != ExitCode.NOT_JUDGED:
        return code
    lacking = pairs_lacking(study_dir)
    if not lacking:
        return ExitCode.OK
    if result is None:
        return code
    comparisons = result.analysis.comparisons
    judged = {each.cell_id for each in comparisons} - {each.cell_id for each in comparisons if not _is_decided(each)}
    if not (left := {cell: number for cell, number in lacking.items() if cell not in judged}):
        return ExitCode.OK
    print(f"{lacking_text(left)} Those that are there decide nothing (exit code {ExitCode.NOT_JUDGED}).")
    return code


def pairs_lacking(study_dir: StudyDir) -> Mapping[str, int]:
    """Cell → number of its planned pairs that were disturbed in every attempt; of cells that lack any."""
    with open_ledger(study_dir) as ledger:
        rows = [PlanRow(**row) for row in ledger.rows()]
        return disturbed_blocks(rows, ledger.attempts()).compared


def lacking_text(lacking: Mapping[str, int]) -> str:
    """Say how many of their planned pairs cells lack."""
    told = number_text.listed([f"{cell} ({number} missing)" for cell, number in lacking.items()])
    return f"Pairs stayed disturbed: {told}."


def code_of_trials(trials: TrialCounts) -> int:
    """Return the exit code for trials that ended like this, as far as they alone tell."""
    if trials.failed or trials.unproven or trials.damaged:
        return ExitCode.TRIALS_FAILED
    return ExitCode.NOT_JUDGED if trials.void else ExitCode.OK


def _is_decided(comparison: Comparison) -> bool:
    """True if the pairs decide the cell: they show a difference, or that it is smaller than what matters."""
    return comparison.conclusion.found or comparison.conclusion.decided
