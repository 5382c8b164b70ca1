# SPDX-License-Identifier: Apache-2.0
"""`quiclab ask`: one question in one line, answered in three sentences, with the study behind it."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.ask_options import USUAL_MINUTES, add_question, read_minutes, read_programs, read_question
from quiclab.cli.behind_bar import run_behind_bar
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.own_name import as_typed
from quiclab.cli.run_options import ONE_JOB, add_backend
from quiclab.cli.trouble import code_of
from quiclab.cli.voice import add_json, print_document
from quiclab.model.errors import RAN, ExitCode, SpecError
from quiclab.model.number_text import from_here
from quiclab.store.disk import read_object
from quiclab.store.go_on import going_on
from quiclab.store.layout import StudyDir

if TYPE_CHECKING:
    from quiclab.cli.console import VisibleConsole
    from quiclab.cli.documents import ReportDocument
    from quiclab.compare.model import StudyAnalysis
    from quiclab.compare.study import Study as AnalysedStudy
    from quiclab.model.study import Study
    from quiclab.study.contenders import Contenders
    from quiclab.study.question import Question

_DESCRIPTION = """\
Ask whether HTTP/3 is faster than HTTP/2 for one transfer over one network. It writes the spec of a study, runs pairs of
trials until the sequential test decides or the minutes are over, and prints who is faster, because of what, and what
would change it, with the path of the full report.
"""

_EPILOG = """\
examples:
  quiclab ask --size 300KB --rtt 40ms --loss 0.5%
  quiclab ask --size 1MB --rtt 80ms --rate 10mbit --server caddy --minutes 5
  quiclab ask --size 20KB --count 20 --profile verizon-lte
  quiclab ask --size 5MB --upload --rtt 30ms
  quiclab ask --page shop.har --rtt 40ms
  quiclab ask --size 300KB --rtt 40ms --h2 curl/nginx --h3 quiche/quiche
  quiclab ask --size 300KB --rtt 40ms --out studies/ask-300KB-40ms --minutes 10    go on with that study
  quiclab ask --size 300KB --rtt 40ms --json > answer.json
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "ask",
        help="ask one question in one line: is HTTP/3 faster here, by how much, and why",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    add_question(parser)
    parser.add_argument(
        "--minutes",
        type=read_minutes,
        default=USUAL_MINUTES,
        metavar="N",
        help=f"most time for trials (default: {USUAL_MINUTES:g}); a question that is decided before ends then",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="STUDY",
        help="study directory: a new one, or one of the same question to go on with (default: a new one in studies)",
    )
    add_backend(parser)
    add_wait(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask, run and answer. Raises SpecError for a question that cannot be asked, HostError where programs are not
    here."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.cli.foreseen import print_foreseen
    from quiclab.plan.part import WHOLE
    from quiclab.study.question import new_folder, refuse_too_long, with_programs
    from quiclab.study.selection import keep_part
    from quiclab.study.specs import as_begun, held

    question = read_question(arguments)
    programs = read_programs(arguments)
    question, arms = with_programs(question, *programs)
    folder = new_folder(question.name) if arguments.out is None else arguments.out
    study_dir = StudyDir(folder.resolve())
    with ExitStack() as holding:
        with tempfile.TemporaryDirectory() as place:
            spec_file = Path(place, "spec.toml")
            spec_file.write_text(question.spec(arms, _name_of(study_dir)), encoding="utf-8")
            study = as_begun(_loaded(spec_file), spec_file, study_dir)
            if not study_dir.has_begun:
                refuse_too_long(study, arguments.minutes)
            changes = holding.enter_context(held(study_dir, spec_file, study))
        _print_question(question, arms, study, study_dir, arguments.minutes)
        print_foreseen(study)
        for change in changes:
            print(change)
        keep_part(study_dir, WHOLE)
        code = _trials(arguments, study, study_dir)
        if code not in RAN:
            return code
        told = f"interrupted: all trials are kept; for the report: quiclab report {from_here(study_dir.root)}"
        asked = _Asked(question, arms, study, study_dir)
        return code_of(lambda: _answer(asked, code, as_json=arguments.json), told)


@dataclass(frozen=True)
class _Asked:
    """A question with the study that answers it."""

    question: Question
    arms: Contenders
    study: Study
    study_dir: StudyDir


def _name_of(study_dir: StudyDir) -> str:
    """Name of the study in a folder: the one that it began with, wherever it was moved or copied to since."""
    from quiclab.store.resolved_form import read_spec
    from quiclab.study.question import usable_name

    if not (study_dir.has_begun and study_dir.resolved.exists()):
        return usable_name(study_dir.root.name)
    kept = read_spec(read_object(study_dir.resolved), study_dir.resolved).name
    return usable_name(study_dir.root.name) if kept is None else kept


def _loaded(spec_file: Path) -> Study:
    """Read the spec that was made. Raises SpecError without its lines, which nobody has seen yet."""
    from quiclab.study.specs import load_study

    try:
        return load_study(spec_file)
    except SpecError as error:
        problems = tuple(each.partition(": ")[2] or each for each in error.problems)
        raise SpecError("the question cannot be asked like this", "quiclab ask --help", problems) from error


def _print_question(question: Question, arms: Contenders, study: Study, study_dir: StudyDir, minutes: float) -> None:
    """Print what is asked, between which programs, where it is kept, and what runs it again."""
    from quiclab.study.question import arm_text

    spec, new = from_here(study_dir.spec), from_here(study_dir.root.with_name(f"{study_dir.root.name}-again"))
    print(question.sentence)
    for arm in (arms.h2, arms.h3):
        print(f"  {arm.protocol}: {arm_text(arm)}")
    if arms.unequal:
        print("  NOT EQUAL, which can decide the answer in place of the protocol:")
    for told in arms.unequal:
        print(f"    {told}")
    print(f"  spec: {spec}; {minutes:g} min at most")
    print(as_typed(f"  to run it again: quiclab run {spec} --until {study.matters.pct:g}% --out {new}"), flush=True)


def _trials(arguments: argparse.Namespace, study: Study, study_dir: StudyDir) -> int:
    """Run pairs until the cell is decided or the time is over. Returns the exit code of the last trials."""
    from quiclab.study.question import MOST_PAIRS, seconds_for_trials
    from quiclab.study.run import in_sandbox_of
    from quiclab.study.sequential_run import Goal, begin_growth, look_once, planned_blocks

    until_s = time.monotonic() + seconds_for_trials(arguments.minutes)
    goal = Goal(study.matters.pct, MOST_PAIRS)
    goal = begin_growth(study_dir, study, goal, chosen=False)
    again = going_on(study_dir.root)
    batches = 0

    def trials(blocks: Mapping[str, int]) -> int:
        return run_behind_bar(
            study,
            study_dir,
            backend=arguments.backend,
            jobs=ONE_JOB,
            interrupted=f"interrupted: finished trials are kept; continue with: {again}",
            blocks=blocks,
            anyway=False,
            until_s=until_s,
            repeated_by=None,
            goes_on=batches > 1,
        )

    with measuring(arguments):
        while True:
            batches += 1
            code = in_sandbox_of(study_dir, partial(trials, planned_blocks(study_dir)))
            if code not in RAN:
                return code
            found = look_once(study_dir, study, goal)
            pairs = f"{found.pairs} pairs"
            if not found.goes_on:
                print(f"{pairs}: decided" if not found.open_cells else f"{pairs}, the most of a question", flush=True)
                return code
            if time.monotonic() >= until_s:
                print(f"{pairs}: the time is over", flush=True)
                return code
            print(f"{pairs}: not decided yet, more follow", flush=True)


def _answer(asked: _Asked, code: int, *, as_json: bool) -> int:
    """Print the answer and write the report. Returns the exit code."""
    from quiclab.cli.analyse import analyse
    from quiclab.cli.ending import code_at_the_end
    from quiclab.compare.model import Conclusion

    answers: list[Answer] = []

    def show(opened: AnalysedStudy, analysis: StudyAnalysis, console: VisibleConsole) -> None:
        answers.append(answer(asked.study, opened.directory, analysis))
        for line in answers[0].lines:
            console.print(line, highlight=False, markup=False)

    result = analyse(asked.study_dir, show=show)
    spoiled = any(each.conclusion is Conclusion.NOT_JUDGED for each in result.analysis.comparisons)
    code = code_at_the_end(code, asked.study_dir, result)
    code = ExitCode.NOT_JUDGED if spoiled and code == ExitCode.OK else code
    if as_json:
        _print_json(asked, code, answers[0], result)
    return code


def _print_json(asked: _Asked, code: int, found: Answer, result: ReportDocument) -> None:
    from quiclab.cli.as_json import as_json
    from quiclab.cli.documents import AskDocument
    from quiclab.cli.run_document import counts
    from quiclab.cli.status_document import VERSION
    from quiclab.study.question import arm_text

    arms = (asked.arms.h2, asked.arms.h3)
    document = AskDocument(
        VERSION,
        str(asked.study_dir.root),
        code,
        asked.question.sentence,
        {each.protocol: arm_text(each) for each in arms},
        asked.arms.unequal,
        found.sentences,
        going_on(asked.study_dir.root),
        counts(asked.study, asked.study_dir),
        result,
    )
    print_document(as_json(document))


@dataclass(frozen=True)
class Answer:
    """Answer to a question, in sentences and as a picture."""

    sentences: tuple[str, ...]
    picture: tuple[object, ...] = ()
    """Bars for a console of Rich; empty where no pair has a breakdown of its time."""

    @property
    def lines(self) -> Sequence[object]:
        """All of it, for a console of Rich."""
        return ["", *self.sentences, *self.picture, ""]


def answer(study: Study, directory: Path, analysis: StudyAnalysis) -> Answer:
    """Say which arm is faster, because of what, what would change it, and, where that is not decided, how to go on."""
    from quiclab.compare.model import Conclusion
    from quiclab.report.words.short_answer import because, verdict
    from quiclab.report.words.wait_bars import WaitBars
    from quiclab.study.remedies import remedy
    from quiclab.why.explanation import readable_explanations

    if not analysis.comparisons:
        return Answer(("Not measured: no pair has run to its end.",))
    comparison = analysis.comparisons[0]
    explained = readable_explanations(directory, analysis, foretold=False) or ()
    explanation = next(iter(explained), None)
    picture = (WaitBars(explanation.waterfall),) if explanation is not None and explanation.waterfall.pairs else ()
    again = going_on(directory)
    sentences = (verdict(comparison, analysis), because(explanation), remedy(study, directory, explanation))
    named = comparison.conclusion.decided or any(again in each for each in sentences)
    disturbed = comparison.conclusion is Conclusion.NOT_JUDGED
    lead = "To go on while less else runs on this machine" if disturbed else "More pairs of the same"
    more = () if named else (f"{lead}: {again}",)
    return Answer((*filter(None, sentences), *more), picture)
