# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain STUDY CELL --confirm`: run a cell without one of its causes, and say what that showed."""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.behind_bar import run_behind_bar
from quiclab.cli.needed_tables import make_needed_tables
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.run_options import ONE_JOB, add_backend, add_jobs
from quiclab.cli.voice import print_document
from quiclab.model.errors import ExitCode, SpecError
from quiclab.model.mechanism_names import current_name
from quiclab.model.study import Study
from quiclab.processes import in_fresh_process
from quiclab.store.layout import StudyDir
from quiclab.store.no_study import no_study

if TYPE_CHECKING:
    from quiclab.study.confirm import Asked, Plan
    from quiclab.study.confirm.confirming_run import Runnable, Trials

_USUAL_MINUTES = 10.0
_OPTIONS = ("cause", "arm", "minutes", "dry_run", "backend", "wait")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Teach `quiclab explain` what confirming takes."""
    options = parser.add_argument_group(
        "--confirm",
        "Run the cell again without one of its causes, in blocks: the slow arm as it is, without the cause, and with "
        "the setting at the value that it has. What must be seen is declared before the run.",
    )
    options.add_argument("--confirm", action="store_true", help="put a cause of CELL to the test by running without it")
    options.add_argument(
        "--cause",
        action="append",
        metavar="NAME",
        type=current_name,
        help="the cause (default: the largest that is shown to cost the slower arm time, and that a setting takes "
        "away); two or three of one arm: all combinations",
    )
    options.add_argument("--arm", metavar="ARM", help="arm that is compared with the baseline, where there are several")
    options.add_argument("--minutes", type=float, metavar="N", help="time for the run (default: 10)")
    options.add_argument("--dry-run", action="store_true", default=None, help="print the plan, and run nothing")
    add_backend(options)
    add_wait(options)
    add_jobs(options)


def refuse_without(arguments: argparse.Namespace) -> None:
    """Raise SpecError for an option that does nothing without --confirm."""
    given = [name for name in _OPTIONS if getattr(arguments, name) is not None]
    given += ["jobs"] * (arguments.jobs != ONE_JOB)
    if given and not arguments.confirm:
        option = given[0].replace("_", "-")
        raise SpecError(f"--{option} is for a run that confirms a cause", "add --confirm, with a study and a cell")


def run_confirm(arguments: argparse.Namespace) -> int:
    """Plan, show the plan, run it, and say what it showed.

    Raises SpecError for what cannot be confirmed, BusyError, HostError and DecodeError as `quiclab run` does.
    """
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.study.confirm import Asked, run_confirmation

    for option in ("h2", "h3", "keys", "metric"):
        if getattr(arguments, option):
            told = f"--{option} does not go with --confirm, which runs a cell of a study by its time to the last byte"
            raise SpecError(told, "leave one of them out")
    if arguments.study is None or arguments.cell is None:
        raise SpecError("--confirm needs a study and one of its cells", "quiclab explain STUDY WORKLOAD/PATH --confirm")
    minutes = _USUAL_MINUTES if arguments.minutes is None else arguments.minutes
    if not 0 < minutes < 10_000:
        raise SpecError(f"--minutes {minutes:g}: this is not a time", "give a number of minutes, such as 10")
    study = spec_of(arguments.study)
    if len(causes := arguments.cause or []) > 1:
        from quiclab.cli.confirm_together import run_together

        asked = Asked(arguments.study, arguments.cell, None, arguments.arm, arguments.baseline)
        return run_together(arguments, asked, causes, study, minutes, trials_of(arguments))
    asked = Asked(arguments.study, arguments.cell, next(iter(causes), None), arguments.arm, arguments.baseline)
    in_fresh_process(make_needed_tables, arguments.study)
    plan: Plan = in_fresh_process(_planned, (asked, study))
    for line in in_fresh_process(_plan_lines, (plan, minutes)):
        print(line, flush=True)
    refuse_too_few(plan, plan.least_blocks, minutes)
    if arguments.dry_run:
        if arguments.json:
            print_document(in_fresh_process(_document, plan))
        return ExitCode.OK
    print(f"Study: {typed_path(plan.directory)}", flush=True)
    with measuring(arguments):
        judged, code = run_confirmation(plan, minutes, trials_of(arguments))
    if judged is None:
        return code
    for line in in_fresh_process(_verdict_lines, (plan, asked, study)):
        print(line, flush=True)
    again = shlex.join(["quiclab", "explain", typed_path(plan.directory)])
    print(f"Its trials are a study of their own: {again}")
    if arguments.json:
        print_document(in_fresh_process(_document, plan))
    return code_of_verdict(code, decided=judged.verdict != "undecided")


def spec_of(directory: Path) -> Study:
    """Return the spec of a study that is there, by which it could be run again. Raises SpecError where it is gone, or
    is not the one that the trials were run with."""
    from quiclab.study.specs import load_study, refuse_another_spec

    study_dir = StudyDir(directory)
    if not study_dir.root.is_dir():
        raise no_study(study_dir)
    if not study_dir.spec.exists():
        hint = "put the spec.toml with which it was run back into it"
        raise SpecError(f"{directory} has no spec.toml, by which it could be run again", hint)
    study = load_study(study_dir.spec)
    refuse_another_spec(study_dir, study)
    return study


def code_of_verdict(code: int, *, decided: bool) -> int:
    """Return how the command ends after a run that ended with `code`: blocks that the laboratory disturbed matter only
    where nothing is decided."""
    if not decided:
        return ExitCode.NOT_JUDGED
    return ExitCode.OK if code == ExitCode.NOT_JUDGED else code


def refuse_too_few(plan: Runnable, least_blocks: int, minutes: float) -> None:
    """Raise SpecError where the minutes do not hold the fewest blocks that decide anything."""
    least_minutes = least_blocks * plan.block_ms / 60_000
    if not plan.begun and least_minutes > minutes:
        raise SpecError(
            f"{minutes:g} minutes are too few: {least_blocks} blocks are the least that decide anything",
            f"give --minutes {least_minutes + 1:.0f} or more",
        )


def trials_of(
    arguments: argparse.Namespace,
    until_s: float = math.inf,
    interrupted: str = "interrupted: finished trials are kept; the same command goes on",
    goes_on: bool = False,
) -> Trials:
    """Return what runs trials inside the sandbox, with a bar; no block begins from a time on (`time.monotonic`). Where
    a run `goes_on`, link and machine were told of before."""

    def trials(confirming: Study, directory: StudyDir, blocks: Mapping[str, int]) -> int:
        return run_behind_bar(
            confirming,
            directory,
            backend=arguments.backend,
            jobs=arguments.jobs,
            interrupted=interrupted,
            blocks=blocks,
            until_s=until_s,
            goes_on=goes_on,
            rounds_later=1,  # each time, so that a further look has new trials
        )

    return trials


def _planned(asked: tuple[Asked, Study]) -> Plan:
    from quiclab.compare.interim_analyses import note_look
    from quiclab.study.confirm.plan import plan_confirmation

    wanted, study = asked
    if wanted.cause is None:
        _refuse_not_judged(wanted)
    plan = plan_confirmation(wanted, study)
    note_look(wanted.study, "ttlb_ms")  # a plan shows how long the arms took
    return plan


def _refuse_not_judged(asked: Asked) -> None:
    """Raise SpecError for a cell that the machine disturbed too much: none of its causes is shown."""
    from quiclab.compare.analyse import analyse_study
    from quiclab.compare.model import Conclusion

    for each in analyse_study(asked.study, "ttlb_ms", asked.baseline).comparisons:
        of_arm = asked.arm in (None, each.other.arm)
        if each.cell_id == asked.cell and of_arm and each.conclusion is Conclusion.NOT_JUDGED:
            told = f"{asked.cell} is not judged, so that none of its causes is shown: {each.why}".rstrip()
            raise SpecError(told, "run it again while less else runs, or name one to be put to the test with --cause")


def _plan_lines(asked: tuple[Plan, float]) -> list[str]:
    from quiclab.report.words import confirmation

    plan, minutes = asked
    lines = confirmation.declaration(plan.declared, plan.title)
    lines += [f"Not possible here: {each}" for each in plan.not_possible]
    lines += [f"Does not go on, a new run begins: {each}" for each in plan.passed_over]
    if plan.stays:
        lines.append(f"Only a part goes: {plan.stays}.")
    if plan.also_changes:
        lines.append(f"The setting also changes: {'; '.join(plan.also_changes)}.")
    lines.append(confirmation.time_needed(minutes, plan.block_ms, plan.least_blocks, plan.blocks_needed))
    return lines


def _verdict_lines(judged: tuple[Plan, Asked, Study]) -> list[str]:
    from quiclab.report.words import confirmation
    from quiclab.study.confirm.together import beside
    from quiclab.why.confirm.records import read_confirmation

    plan, asked, study = judged
    found = read_confirmation(plan.directory)
    if found is None or found.judgement is None:
        return []
    lines = confirmation.verdict(plan.declared, found.judgement, plan.title)
    lines += confirmation.next_to_try(plan.declared, found.judgement, plan.gain, plan.also_changes, plan.own_words)
    if found.judgement.hidden and (other := beside(asked, study, plan.declared.mechanism)) is not None:
        both = ["--cause", plan.declared.mechanism, "--cause", other]
        arms = [] if asked.baseline is None else ["--baseline", asked.baseline]
        arms += [] if asked.arm is None else ["--arm", asked.arm]
        command = shlex.join(["quiclab", "explain", typed_path(asked.study), asked.cell, "--confirm", *both, *arms])
        lines.append(f"Another cause may stand behind it. What the two are worth together: {command}")
    return lines


def _document(plan: Plan) -> object:
    from quiclab.cli.as_json import as_json
    from quiclab.cli.explain_documents import ConfirmDocument
    from quiclab.cli.status_document import VERSION
    from quiclab.why.confirm.records import judgement_document, read_confirmation

    found = read_confirmation(plan.directory)
    shown = judgement_document(found.judgement) if found is not None and found.judgement is not None else None
    declared = plan.declared
    return as_json(ConfirmDocument(VERSION, str(plan.directory), declared.sha256, declared.document(), shown))


def typed_path(directory: Path) -> str:
    """Return a directory as it can be typed here."""
    here = Path.cwd()
    return str(directory.relative_to(here)) if directory.is_relative_to(here) else str(directory)
