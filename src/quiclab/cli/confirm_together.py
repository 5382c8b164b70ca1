# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain --confirm` with two or three causes: all combinations in each block, and whose how much is."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quiclab.cli.confirm import code_of_verdict, refuse_too_few, typed_path
from quiclab.cli.neighbours import measuring
from quiclab.cli.voice import print_document
from quiclab.model.errors import ExitCode
from quiclab.model.study import Study
from quiclab.processes import in_fresh_process

if TYPE_CHECKING:
    from quiclab.study.confirm import Asked
    from quiclab.study.confirm.confirming_run import Trials
    from quiclab.study.confirm.together import PlanTogether


def run_together(
    arguments: argparse.Namespace, asked: Asked, causes: Sequence[str], study: Study, minutes: float, trials: Trials
) -> int:
    """Plan, show the plan, run it, and share out what the causes take."""
    from quiclab.study.confirm.confirming_run import run_in_rounds
    from quiclab.study.confirm.together import declare_together, look_together

    plan: PlanTogether = in_fresh_process(_planned, (asked, tuple(causes), study))
    for line in in_fresh_process(_plan_lines, (plan, minutes)):
        print(line, flush=True)
    refuse_too_few(plan, plan.least_blocks, minutes)
    if not arguments.dry_run:
        print(f"Study: {typed_path(plan.directory)}", flush=True)
        with measuring(arguments):
            judged, code = run_in_rounds(plan, minutes, trials, declare_together, look_together)
        if judged is None:
            return code
        for line in in_fresh_process(_result_lines, plan):
            print(line, flush=True)
        print(f"Its trials are a study of their own: {shlex.join(['quiclab', 'explain', typed_path(plan.directory)])}")
        code = code_of_verdict(code, decided=judged.final)
    if arguments.json:
        print_document(in_fresh_process(_document, plan))
    return ExitCode.OK if arguments.dry_run else code


def _planned(asked: tuple[Asked, Sequence[str], Study]) -> PlanTogether:
    from quiclab.compare.interim_analyses import note_look
    from quiclab.study.confirm.together import plan_together

    plan = plan_together(*asked)
    note_look(asked[0].study, "ttlb_ms")  # a plan shows how long the arms took
    return plan


def _plan_lines(asked: tuple[PlanTogether, float]) -> list[str]:
    from quiclab.report.words import confirmation, together

    plan, minutes = asked
    lines = together.declaration(plan.declared, _titles(plan))
    return [*lines, confirmation.time_needed(minutes, plan.block_ms, plan.least_blocks, plan.blocks_needed)]


def _result_lines(plan: PlanTogether) -> list[str]:
    from quiclab.report.words import together
    from quiclab.study.confirm.together import found_together

    return together.result(plan.declared, found_together(plan), _titles(plan))


def _document(plan: PlanTogether) -> object:
    from quiclab.cli.as_json import as_json
    from quiclab.cli.explain_documents import ConfirmDocument
    from quiclab.cli.status_document import VERSION
    from quiclab.report.words import together
    from quiclab.study.confirm.together import found_together

    declared = plan.declared
    result = together.document(declared, found_together(plan)) if (plan.directory / "together.json").exists() else None
    return as_json(ConfirmDocument(VERSION, str(plan.directory), declared.sha256, declared.document(), result))


def _titles(plan: PlanTogether) -> dict[str, str]:
    from quiclab.why.mechanisms import BY_NAME

    return {cause: BY_NAME[cause].title for cause in plan.declared.predicted}
