# SPDX-License-Identifier: Apache-2.0
"""Document of `quiclab explain --json`: accounts, verdicts and the runs that tested them."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.cli.account_documents import (
    AccountEntry,
    CauseEntry,
    ConfirmationEntry,
    ExplainDocument,
    FactEntry,
    FollowerEntry,
    StepEntry,
)
from quiclab.cli.as_json import as_json
from quiclab.cli.status_document import VERSION
from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.words.cause_lines import rest_ms
from quiclab.report.words.headline import headline
from quiclab.why.accounts import Step, Waterfall
from quiclab.why.cause_parts import FactOfArms
from quiclab.why.causes import Verdict
from quiclab.why.confirm.records import Confirmation, confirmations, judgement_document


def explain_document(
    study: OpenedStudy, found: Sequence[Waterfall], causes: Sequence[tuple[Verdict, ...]], alpha: float
) -> object:
    """The document, one entry for each comparison."""
    tested = confirmations(study.directory)
    entries = tuple(_entry(each, judged, tested, alpha) for each, judged in zip(found, causes, strict=True))
    return as_json(ExplainDocument(VERSION, str(study.directory), entries))


def _entry(
    waterfall: Waterfall, causes: tuple[Verdict, ...], tested: Sequence[Confirmation], alpha: float
) -> AccountEntry:
    comparison, served = waterfall.comparison, waterfall.served_bytes
    why, what, roles = (tuple(map(_step, steps)) for steps in (waterfall.steps, waterfall.floor, waterfall.roles))
    return AccountEntry(
        comparison.cell_id,
        comparison.baseline.arm,
        comparison.other.arm,
        comparison.conclusion,
        comparison.why,
        headline(waterfall, causes, alpha),
        str(waterfall.of),
        waterfall.pairs,
        waterfall.without,
        *served,
        why,
        what,
        roles,
        _step(waterfall.total) if waterfall.pairs else None,
        tuple(map(cause_entry, causes)),
        rest_ms(waterfall, causes),
        tuple(_confirmation(each) for each in tested if each.is_of(comparison)),
    )


def _confirmation(tested: Confirmation) -> ConfirmationEntry:
    declared, judgement = tested.declared, tested.judgement
    return ConfirmationEntry(
        declared.mechanism,
        declared.arm,
        declared.other,
        str(tested.directory),
        tested.sound,
        None if judgement is None else judgement_document(judgement),
    )


def cause_entry(verdict: Verdict) -> CauseEntry:
    """A verdict as the document has it."""

    def fact(of: FactOfArms) -> FactEntry:
        return FactEntry(of.name, of.unit, of.baseline, of.other)

    step = verdict.step
    return CauseEntry(
        verdict.name,
        str(verdict.status),
        step.baseline_ms,
        step.other_ms,
        step.difference_ms,
        step.interval_ms,
        step.p,
        step.p_adjusted,
        verdict.pairs_needed,
        tuple(each.name for each in verdict.rivals),
        verdict.evidence,
        tuple(map(fact, verdict.facts)),
        verdict.against,
        tuple(
            FollowerEntry(each.mechanism.name, each.difference_ms, tuple(map(fact, each.facts)))
            for each in verdict.followers
        ),
    )


def _step(step: Step) -> StepEntry:
    label = None if step.label is None else str(step.label)
    return StepEntry(
        label,
        step.baseline_ms,
        step.other_ms,
        step.difference_ms,
        step.interval_ms,
        step.p,
        step.p_adjusted,
        tuple(map(str, step.fine)),
        *step.evidence,
    )
