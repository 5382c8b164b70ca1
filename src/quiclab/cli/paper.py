# SPDX-License-Identifier: Apache-2.0
"""`quiclab paper`: results of a paper, run again and held against what the paper says."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.ask_options import read_minutes
from quiclab.cli.behind_bar import run_behind_bar
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.run_options import add_backend, add_jobs, add_keep_raw, jobs_again, keep_raw_again
from quiclab.cli.trouble import code_of, tell
from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.model.errors import RAN, ExitCode, HostError, SpecError
from quiclab.store.layout import StudyDir

if TYPE_CHECKING:
    from quiclab.cli.paper_document import HeadlineResult, JudgedStudy, PlannedSize, StudyEntry
    from quiclab.spec.headline_choice import Choice
    from quiclab.study.paper_studies import Foretold, PaperStudy

USUAL_OUT = Path("studies", "headlines")

_DESCRIPTION = """\
Run results that a paper is known for, and say claim by claim what the paper says and what was measured here. A result
is held against one study or more that come with quiclab, with the paper's sizes and path, and with enough pairs to
decide. --small runs the fewest pairs that can decide anything, in studies of their own: "inconclusive" is an answer
then.
"""

_EPILOG = """\
examples:
  quiclab paper --list                      the papers, their results, and how long each takes
  quiclab paper --list yu-benson            those of one paper
  quiclab paper yu-benson 4a --dry-run      what would run, and what it can decide
  quiclab paper yu-benson 4a --small        the results in Figure 4a, in few pairs
  quiclab paper yu-benson Y1                one result, at the paper's size
  quiclab paper liu "section 4.1"           those of a section
  quiclab paper qin --minutes 60            all of a paper, as far as an hour goes; again for more
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "paper",
        help="run a figure or a result of a paper again, and hold it against what the paper says",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="paper, as --list names it")
    parser.add_argument(
        "result",
        nargs="*",
        default=(),
        metavar="RESULT",
        help='id, figure, table or section: Y1, 4a, "fig 4a", "table 5", 7.1.1 (default: all of the paper)',
    )
    parser.add_argument("--list", action="store_true", help="the results, their studies, what each needs and takes")
    parser.add_argument(
        "--small", action="store_true", help="the fewest pairs that can decide anything (default: the paper's size)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would run, for how long, and where")
    parser.add_argument(
        "--out",
        type=Path,
        default=USUAL_OUT,
        metavar="FOLDER",
        help=f"folder for the studies, a directory for each (default: {USUAL_OUT})",
    )
    parser.add_argument(
        "--minutes",
        type=read_minutes,
        metavar="N",
        help="most time for all trials: no pair begins later, and what ran is judged (default: until all have run)",
    )
    add_jobs(parser)
    add_keep_raw(parser)
    add_backend(parser)
    add_wait(parser)
    parser.add_argument(
        "--anyway", action="store_true", help="leave out studies whose programs are not here, and run the others"
    )
    add_quiet(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List, foretell or run. Raises SpecError for a name that there is not, HostError where programs are not here."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.cli.paper_text import list_lines, opening_lines, plan_lines, print_lines
    from quiclab.spec.headline_choice import Choice, choose
    from quiclab.study.paper_studies import known_headlines, read_studies

    known = known_headlines()
    if arguments.paper is not None:
        choices = [choose(known, arguments.paper, " ".join(arguments.result))]
    elif arguments.list:
        choices = [Choice(paper, tuple(known.for_paper(paper))) for paper in known.papers]
    else:
        raise SpecError(
            f"name a paper: {', '.join(each.word for each in known.papers)}", "quiclab paper --list has their results"
        )
    names = dict.fromkeys(name for each in choices for name in each.studies)
    studies = {each.name: each for each in read_studies(names)}
    if arguments.list:
        if arguments.json:
            _print_plan(choices, studies)
        else:
            print_lines(list_lines(choices, studies))
        return ExitCode.OK
    choice = choices[0]
    if not studies:
        told = tuple(f"{each.id}: {each.not_testable or each.not_run}" for each in choice.headlines)
        raise SpecError("nothing of this can be run", f"quiclab paper --list {choice.paper.word} has what can", told)
    able = [each for each in studies.values() if not each.missing]
    wanted = able if arguments.anyway and able else list(studies.values())
    refused = None if wanted == able else _refusal(wanted, some_can=bool(able))
    if refused is not None and not arguments.dry_run:
        raise refused
    print_lines(opening_lines(choice, wanted, small=arguments.small))
    if not arguments.dry_run:
        return _run_all(arguments, choice, wanted)
    if arguments.json:
        _print_plan(choices, studies)
    else:
        print_lines(plan_lines(wanted, arguments.out, small=arguments.small))
    if refused is None:
        return ExitCode.OK
    sys.stdout.flush()  # the plan stands before what is wrong with it
    tell(refused)
    return refused.exit_code


def _refusal(studies: Sequence[PaperStudy], *, some_can: bool) -> HostError:
    """Error that names all programs that are not here, each with what installs it."""
    unable = [each for each in studies if each.missing]
    told = f"{len(unable)} of {len(studies)} studies cannot run: their programs are not here"
    hint = "install them" + ("; or add --anyway, which leaves these studies out" if some_can else "")
    return HostError(told, hint, tuple(f"{each.name}: {why}" for each in unable for why in each.missing))


def _run_all(arguments: argparse.Namespace, choice: Choice, studies: Sequence[PaperStudy]) -> int:
    """Run studies one after another, and tell all claims at the end. Returns the exit code of all."""
    from quiclab.cli.paper_text import closing_lines, print_lines, result_lines, study_line

    until_s = math.inf if arguments.minutes is None else time.monotonic() + 60 * arguments.minutes
    judged: list[JudgedStudy] = []
    codes: list[int] = []
    with measuring(arguments):
        for number, study in enumerate(studies, 1):
            if time.monotonic() >= until_s:
                break
            print(f"\n{study.name}, {number} of {len(studies)}: {study.whole.question}", flush=True)
            codes.append(_run_one(arguments, study, choice, until_s, judged))
            if len(judged) < number:
                break
            print_lines([study_line(judged[-1])])
    results = _results(choice, judged)
    if judged:
        print_lines(result_lines(results))
        whole = _again(arguments, small=False)
        print_lines(closing_lines([each.result for each in judged], small=arguments.small, whole=whole))
    if len(judged) < len(studies) and (not codes or codes[-1] in RAN):
        print(f"{len(judged)} of {len(studies)} studies ran in the time: the same command goes on with the rest")
    code = _code_of_all(codes)
    if arguments.json and code in RAN:
        _print_results(arguments, choice, code, results, judged)
    return code


def _run_one(
    arguments: argparse.Namespace, asked: PaperStudy, choice: Choice, until_s: float, judged: list[JudgedStudy]
) -> int:
    """Run one study and add what came of it to `judged`. Returns its exit code; what goes wrong is told."""

    def work() -> int:
        from quiclab.cli.paper_judged import RunStudy, judge_study
        from quiclab.plan.part import WHOLE
        from quiclab.processes import in_fresh_process
        from quiclab.spec.resolved import resolved_json
        from quiclab.study.claims import keep_claims, read_claims
        from quiclab.study.run import in_sandbox_of
        from quiclab.study.selection import keep_part
        from quiclab.study.specs import as_begun, held, load_study

        study_dir = StudyDir(asked.folder(arguments.out, small=arguments.small).resolve())
        with ExitStack() as holding:
            with tempfile.TemporaryDirectory() as place:
                spec_file = asked.spec_in(Path(place), small=arguments.small)
                study = as_begun(load_study(spec_file), spec_file, study_dir)
                claims = read_claims(spec_file, resolved_json(study))
                changes = holding.enter_context(held(study_dir, spec_file, study))
                keep_claims(study_dir, spec_file, claims)
            for change in changes:
                print(change)
            keep_part(study_dir, WHOLE)

            def trials() -> int:
                return run_behind_bar(
                    study,
                    study_dir,
                    backend=arguments.backend,
                    jobs=arguments.jobs,
                    interrupted=interrupted,
                    keep_raw=arguments.keep_raw,
                    anyway=False,
                    until_s=until_s,
                )

            code = in_sandbox_of(study_dir, trials)
            if code in RAN and study_dir.has_trials():
                ran = RunStudy(asked.name, study, study_dir, code, choice.claims_in(asked.name))
                judged.append(in_fresh_process(judge_study, ran))
                return judged[-1].result.exit_code
            return code

    interrupted = f"interrupted: finished trials are kept; continue with: {_again(arguments, small=arguments.small)}"
    return code_of(work, interrupted)


def _code_of_all(codes: Sequence[int]) -> int:
    """Return the exit code of all studies: of one that could not run to its end, else of the worst end."""
    if codes and codes[-1] not in RAN:
        return codes[-1]
    return next((code for code in (ExitCode.TRIALS_FAILED, ExitCode.NOT_JUDGED) if code in codes), ExitCode.OK)


def _again(arguments: argparse.Namespace, *, small: bool) -> str:
    """Return the command that goes on, or does the same at another size."""
    out = [] if arguments.out == USUAL_OUT else ["--out", str(arguments.out)]
    anyway = ["--anyway"] if arguments.anyway else []
    size = ["--small"] if small else []
    options = [*size, *out, *jobs_again(arguments.jobs), *keep_raw_again(arguments.keep_raw), *anyway]
    return shlex.join(["quiclab", "paper", arguments.paper, *arguments.result, *options])


def _results(choice: Choice, judged: Sequence[JudgedStudy]) -> tuple[HeadlineResult, ...]:
    """Each result with its claims in the studies that ran."""
    from quiclab.cli.paper_document import HeadlineResult

    ran = {study.result.study: study.claims for study in judged}
    return tuple(
        HeadlineResult(
            each.id,
            each.where,
            each.text,
            tuple(found for study, claim in each.claims for found in ran.get(study, ()) if found.claim == claim),
            tuple(study for study in each.studies if study not in ran),
            each.not_testable,
            each.note,
            each.limits,
        )
        for each in choice.headlines
    )


def _print_results(
    arguments: argparse.Namespace, choice: Choice, code: int, results: tuple[HeadlineResult, ...],
    judged: Sequence[JudgedStudy],
) -> None:  # fmt: skip
    from quiclab.cli.as_json import as_json
    from quiclab.cli.paper_document import PaperDocument
    from quiclab.cli.status_document import VERSION

    document = PaperDocument(
        VERSION,
        code,
        choice.paper.word,
        choice.paper.title,
        arguments.small,
        results,
        tuple(each.result for each in judged),
        _again(arguments, small=arguments.small),
    )
    print_document(as_json(document))


def _print_plan(choices: Sequence[Choice], studies: dict[str, PaperStudy]) -> None:
    """Print the document of --list, of all papers or of what was asked for."""
    from quiclab.cli.as_json import as_json
    from quiclab.cli.paper_document import PaperEntry, PapersDocument, ResultEntry
    from quiclab.cli.status_document import VERSION

    papers = tuple(
        PaperEntry(
            each.paper.word,
            each.paper.name,
            each.paper.title,
            each.paper.conditions,
            each.paper.remark,
            tuple(
                ResultEntry(
                    one.id, one.where, one.text, one.studies, one.not_testable, one.not_run, one.note, one.limits
                )
                for one in each.headlines
            ),
        )
        for each in choices
    )
    print_document(as_json(PapersDocument(VERSION, papers, {name: _entry(study) for name, study in studies.items()})))


def _entry(study: PaperStudy) -> StudyEntry:
    from quiclab.cli.paper_document import StudyEntry

    sizes = (_size(study.foretold(small=small)) for small in (False, True))
    return StudyEntry(str(study.file), study.whole.question, study.missing, *sizes)


def _size(size: Foretold) -> PlannedSize:
    from quiclab.cli.paper_document import PlannedSize

    return PlannedSize(size.pairs, size.trials, size.expected.ns)
