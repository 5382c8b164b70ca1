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
    with open_ledger(study_dir) as ledger:
        rows = [PlanRow(**row) for row in ledger.rows()]
        lacking = disturbed_blocks(rows, ledger.attempts()).compared
    if not lacking:
        return ExitCode.OK
    if result is None:
        return code
    comparisons = result.analysis.comparisons
    judged = {each.cell_id for each in comparisons} - {each.cell_id for each in comparisons if not _is_decided(each)}
    if not (left := {cell: number for cell, number in lacking.items() if cell not in judged}):
        return ExitCode.OK
    print(_not_judged(left))
    return code


def code_of_trials(trials: TrialCounts) -> int:
    """Return the exit code for trials that ended like this, as far as they alone tell."""
    if trials.failed or trials.unproven or trials.damaged:
        return ExitCode.TRIALS_FAILED
    return ExitCode.NOT_JUDGED if trials.void else ExitCode.OK


def _not_judged(lacking: Mapping[str, int]) -> str:
    """Say of cells how many of their planned pairs they lack, and that the others do not decide them."""
    told = number_text.listed([f"{cell} ({number} missing)" for cell, number in lacking.items()])
    return f"Pairs stayed disturbed: {told}. Those that are there decide nothing (exit code {ExitCode.NOT_JUDGED})."


def _is_decided(comparison: Comparison) -> bool:
    """True if the pairs decide the cell: they show a difference, or that it is smaller than what matters."""
    return comparison.conclusion.found or comparison.conclusion.decided
