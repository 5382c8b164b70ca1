# SPDX-License-Identifier: Apache-2.0
"""The sentence on what would change an answer: a run without the cause, where there is one, or a setting to try."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.errors import QuiclabError
from quiclab.model.number_text import from_here
from quiclab.model.study import Study

if TYPE_CHECKING:
    from quiclab.study.confirm.plan import Plan
    from quiclab.why.explanation import Explanation


def remedy(study: Study, directory: Path, explanation: Explanation | None) -> str:
    """Say what would change the answer of a cell, by what is known; else what was not found. Empty where no cause is
    looked for."""
    from quiclab.report.words.explanation_text import run_lines, sentence
    from quiclab.study.confirm.plan import Asked, plan_confirmation

    if explanation is None or not explanation.waterfall.pairs or not explanation.judged:
        return ""
    tested = [each for each in explanation.causes if each.tested is not None and each.status.names_one]
    if told := [*(sentence(each, explanation) for each in tested), *run_lines(explanation)]:
        return f"What would change it: {told[0]}"
    if not any(each.shown for each in explanation.parts):
        return "What would change it: not known before a cause is."
    cell = explanation.comparison.cell_id
    command = f"quiclab explain {from_here(directory)} {cell} --confirm"
    try:
        plan = plan_confirmation(Asked(directory, cell), study)
    except QuiclabError:
        return (
            "What would change it: no setting was found here that takes a cause from the slower arm. Each that was "
            f"tried, and why not: {command} --dry-run"
        )
    return f"What would change it: {_to_try(plan)} Not tested yet: {command}"


def _to_try(plan: Plan) -> str:
    from quiclab.report.words.confirmation import in_ms, setting, would_go

    declared = plan.declared
    where = "over the path" if declared.is_of_path else f"in {declared.arm}"
    written = f" ({'; '.join(plan.own_words)})" if plan.own_words else ""
    goes = f"; {would_go(declared)}" if declared.replaced_ms else ""
    more = f"more than {declared.other}" if declared.equal else f"of {in_ms(declared.total_ms)}"
    return (
        f"{setting(declared)} {where}{written}. {plan.gain} It is for {plan.title}, which takes "
        f"{in_ms(declared.share_ms)} {more} in the median trial{goes}."
    )
