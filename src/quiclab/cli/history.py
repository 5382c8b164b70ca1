# SPDX-License-Identifier: Apache-2.0
"""`quiclab history PROGRAM`: which release, or which commit, changed the time of a transfer."""

from __future__ import annotations

import argparse
import shlex
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.ask_options import add_transfer, read_minutes, read_question
from quiclab.cli.behind_bar import run_behind_bar
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.own_name import as_typed
from quiclab.cli.run_options import ONE_JOB, add_backend
from quiclab.cli.trouble import code_of
from quiclab.cli.voice import add_json, print_document
from quiclab.model.errors import ExitCode, SpecError
from quiclab.model.number_text import from_here
from quiclab.processes import in_fresh_process
from quiclab.store.layout import BUILDS, StudyDir

if TYPE_CHECKING:
    from quiclab.cli.console import VisibleConsole
    from quiclab.compare.model import StudyAnalysis
    from quiclab.compare.study import Study as AnalysedStudy
    from quiclab.model.study import Study
    from quiclab.study.history.bisection import Bisection
    from quiclab.study.history.changes import HistoryFindings
    from quiclab.study.history.commits import CommitChoice
    from quiclab.study.history.history_plan import HistoryPlan
    from quiclab.study.history.rounds import Trials
    from quiclab.study.question import Question

_USUAL = {"size": "1MB", "rtt": "40ms"}
_USUAL_MINUTES = 10.0
_DISTURBANCE = "3 %"
_NEIGHBOURS = 0.4
"""Share of the time, at least, in which neighbours are compared that a search among releases did not compare."""
_HINT = "quiclab history quic-go --size 1MB --rtt 40ms"
_DESCRIPTION = """\
Say which release of a program changed the time of a transfer, and why. Every release is an arm of one study, in the
same blocks over one path. Two blocks of all of them show which can run. Then the oldest and the newest are compared
until the sequential test decides, and wherever two differ the release between them is measured too, down to
neighbours. With the time that is left neighbours are compared that were not yet. All of that is judged at one level for
the whole search; the time breakdown explains each step.

With --build and --range it does the same among the commits of your repository: a bisect that knows noise. Your checkout
is not touched.
"""
_EPILOG = """\
examples:
  quiclab history quic-go --size 1MB --rtt 40ms --loss 0.5%
  quiclab history aioquic --from 1.0 --to latest --minutes 20
  quiclab history quiche --role client --size 5MB --upload --rate 20mbit
  quiclab history quic-go --dry-run                the releases, and what can be decided
  quiclab history nginx --build 'auto/configure && make -j2' --bin objs --range v1.29.0..main --repo ~/nginx
  quiclab history --build make --range HEAD~32..HEAD --repo . --run '{build}/server {port} {cert} {key} {root}'
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "history",
        help="find the release, or the commit, that changed the time of a transfer",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("program", nargs="?", metavar="PROGRAM", help="program with releases, such as quic-go")
    parser.add_argument("--from", dest="oldest", metavar="V", help="oldest release (default: the oldest there is)")
    parser.add_argument("--to", dest="newest", metavar="V", help="newest release, or latest: the one here (default)")
    parser.add_argument("--protocol", choices=("h2", "h3"), help="protocol (default: h3 where the program speaks it)")
    parser.add_argument("--role", choices=("server", "client"), help="its role (default: server where it is one)")
    parser.add_argument("--with", dest="other", metavar="NAME", help="program at the other end (default: the fittest)")
    add_transfer(parser)
    commits = parser.add_argument_group("commits of your own repository in place of releases")
    commits.add_argument("--build", metavar="CMD", help="command that builds a commit, run in a copy of its files")
    commits.add_argument("--range", dest="commits", metavar="A..B", help="A is measured too; first parents alone")
    commits.add_argument("--repo", type=Path, metavar="DIR", help="the repository (default: the one here)")
    commits.add_argument("--bin", metavar="DIR", help="folder of the build that holds the program (default: all of it)")
    commits.add_argument("--run", dest="argv", metavar="CMD", help="command of a program of your own, with {build}")
    parser.add_argument(
        "--minutes", type=read_minutes, default=_USUAL_MINUTES, metavar="N",
        help=f"most time for trials (default: {_USUAL_MINUTES:g})",
    )  # fmt: skip
    parser.add_argument("--matters", metavar="SHARE", help='smallest difference that matters (default: "2%%")')
    parser.add_argument(
        "--disturbance", default=_DISTURBANCE, metavar="SHARE",
        help=f"share of its time that this machine may add to a trial (default: {_DISTURBANCE.replace('%', '%%')})",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="STUDY", help="study directory: a new one, or one to go on with")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and run nothing")
    add_backend(parser)
    add_wait(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Plan, search and answer. Raises SpecError for what cannot be asked, HostError where programs are not here."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.model.history_record import most_pairs
    from quiclab.study.history.history_plan import study_name
    from quiclab.study.question import new_folder, usable_name
    from quiclab.study.specs import as_begun, held

    if arguments.dry_run and arguments.json:
        raise SpecError("--dry-run runs nothing that --json could tell of", "leave one of them out")
    commits = _commits(arguments)
    question = _question(arguments)
    title = arguments.program if commits is None else commits.title
    study_dir = StudyDir((arguments.out or new_folder(study_name(title, question))).resolve())
    with ExitStack() as holding:
        with tempfile.TemporaryDirectory() as place:
            # A dry run leaves nothing behind, not even the folders that commits would be built in.
            plan = _planned(
                arguments, question, commits, (Path(place) if arguments.dry_run else study_dir.root) / BUILDS
            )
            family = most_pairs(len(plan.releases))
            spec_file = Path(place, "spec.toml")
            text = plan.spec(usable_name(study_dir.root.name), arguments.disturbance, arguments.matters)
            spec_file.write_text(text, encoding="utf-8")
            study = as_begun(_loaded(spec_file), spec_file, study_dir)
            for line in in_fresh_process(_plan_lines, (plan, family, study.alpha, arguments.minutes)):
                print(line, flush=True)
            if arguments.dry_run:
                return ExitCode.OK
            changes = holding.enter_context(held(study_dir, spec_file, study))
        print(f"  study: {from_here(study_dir.root)}", flush=True)
        for change in changes:
            print(change)
        asked = _Asked(plan, study, study_dir, family, _again(arguments, study_dir))
        search, code = _search(arguments, asked, commits)
        if search is None:
            return code
        told = f"interrupted: all trials are kept; go on: {asked.again}"
        return code_of(lambda: _answer(asked, search, code, as_json=arguments.json), told)


@dataclass(frozen=True)
class _Asked:
    """A history with its study."""

    plan: HistoryPlan
    study: Study
    study_dir: StudyDir
    family: int
    """Pairs of releases that may be compared."""
    again: str
    """Command that goes on with it."""


def _question(arguments: argparse.Namespace) -> Question:
    """The transfer and its network, of the usual size and round-trip time where nothing is said."""
    if arguments.size is None and arguments.page is None:
        arguments.size = _USUAL["size"]
    if arguments.rtt is None and arguments.profile is None:
        arguments.rtt = _USUAL["rtt"]
    return read_question(arguments, _HINT)


def _commits(arguments: argparse.Namespace) -> CommitChoice | None:
    """Request for commits; None where it is for releases. Raises SpecError where both are mixed."""
    from quiclab.study.history.commits import CommitChoice

    given = {"--build": arguments.build, "--range": arguments.commits}
    more = {"--repo": arguments.repo, "--bin": arguments.bin, "--run": arguments.argv}
    if not any((given | more).values()):
        if arguments.program is None:
            raise SpecError("name a program, such as quic-go", _HINT)
        return None
    if missing := [option for option, value in given.items() if not value]:
        raise SpecError(f"a history of commits needs {' and '.join(missing)}", "quiclab history --help has examples")
    if arguments.oldest or arguments.newest:
        raise SpecError("--from and --to name releases, and --range names commits", "leave one of them out")
    return CommitChoice(
        arguments.repo or Path(),
        arguments.commits,
        arguments.build,
        arguments.bin or "",
        arguments.argv,
        arguments.program,
        arguments.role or "server",
        arguments.protocol,
        arguments.other,
    )


def _planned(
    arguments: argparse.Namespace, question: Question, commits: CommitChoice | None, builds: Path
) -> HistoryPlan:
    if commits is not None:
        from quiclab.study.history.commits import make_folders, plan_commits

        plan = plan_commits(question, commits, builds)
        make_folders(plan)
        return plan
    from quiclab.study.history.history_plan import plan_releases

    return plan_releases(
        question,
        arguments.program,
        (arguments.oldest, arguments.newest),
        role=arguments.role,
        protocol=arguments.protocol,
        other=arguments.other,
    )


def _loaded(spec_file: Path) -> Study:
    """Read the spec that was made. Raises SpecError without its lines, which nobody has seen yet."""
    from quiclab.study.specs import load_study

    try:
        return load_study(spec_file)
    except SpecError as error:
        problems = tuple(each.partition(": ")[2] or each for each in error.problems)
        raise SpecError("no history can be made of these options", "quiclab history --help", problems) from error


def _again(arguments: argparse.Namespace, study_dir: StudyDir) -> str:
    """The command that goes on with a history: whatever makes it this one."""
    words = ["quiclab", "history", *([arguments.program] if arguments.program else [])]
    options = {
        "from": arguments.oldest, "to": arguments.newest, "role": arguments.role, "protocol": arguments.protocol,
        "with": arguments.other,
        "size": arguments.size, "count": arguments.count, "page": arguments.page, "rtt": arguments.rtt,
        "loss": arguments.loss, "rate": arguments.rate, "profile": arguments.profile, "build": arguments.build,
        "range": arguments.commits, "repo": arguments.repo, "bin": arguments.bin, "run": arguments.argv,
        "matters": arguments.matters, "minutes": f"{arguments.minutes:g}", "out": from_here(study_dir.root),
    }  # fmt: skip
    words += ["--upload"] if arguments.upload else []
    words += ["--disturbance", arguments.disturbance] if arguments.disturbance != _DISTURBANCE else []
    return shlex.join([*words, *(word for key, value in options.items() if value for word in (f"--{key}", str(value)))])


def _search(arguments: argparse.Namespace, asked: _Asked, commits: CommitChoice | None) -> tuple[Bisection | None, int]:
    """Run the search. Returns what it found, None where it was interrupted, and the exit code of its trials."""
    from quiclab.store.history_file import keep_history, read_history
    from quiclab.study.history.bisection import bisect, compare_neighbours
    from quiclab.study.history.commits import ready_commit
    from quiclab.study.history.release_programs import ready_release
    from quiclab.study.history.rounds import EndedEarlyError, ReleaseRounds
    from quiclab.study.question import seconds_for_trials

    plan = asked.plan
    before = read_history(asked.study_dir.root)
    keep_history(asked.study_dir.root, plan.record({} if before is None else before.unusable))
    root = asked.study_dir.root
    ready = ready_release(plan, _say) if commits is None else ready_commit(commits, root, _say)
    until_s = time.monotonic() + seconds_for_trials(arguments.minutes)
    trials = _trials(arguments, asked, until_s)
    rounds = ReleaseRounds(asked.study, asked.study_dir, plan.cell, asked.family, trials, ready, until_s, _say)
    with measuring(arguments):
        try:
            if plan.of_commits:
                search = bisect(plan.names, rounds)
            else:
                # Ends that differ by about what matters stay open for long: neighbours have a share of their own.
                unusable = rounds.survey(plan.names)
                rounds.until_s = until_s - _NEIGHBOURS * seconds_for_trials(arguments.minutes)
                search = bisect(plan.names, rounds, unusable)
                rounds.until_s = until_s
                search = compare_neighbours(search, rounds)
        except EndedEarlyError as ended:
            return None, ended.code
    keep_history(asked.study_dir.root, plan.record(search.unusable))
    return search, rounds.code


def _trials(arguments: argparse.Namespace, asked: _Asked, until_s: float) -> Trials:
    """Runner of a round's trials in a sandbox."""
    from quiclab.study.run import in_sandbox_of

    def trials(blocks: Mapping[str, int], first: bool) -> int:
        def inside() -> int:
            return run_behind_bar(
                asked.study,
                asked.study_dir,
                backend=arguments.backend,
                jobs=ONE_JOB,
                interrupted=f"interrupted: finished trials are kept; go on: {asked.again}",
                blocks=blocks,
                until_s=until_s,
                repeated_by=None,
                goes_on=not first,
            )

        return in_sandbox_of(asked.study_dir, inside)

    return trials


def _say(line: str) -> None:
    print(line, flush=True)


def _plan_lines(asked: tuple[HistoryPlan, int, float, float]) -> list[str]:
    from quiclab.cli.history_text import plan_lines
    from quiclab.compare.release_pairs import least_pairs

    plan, family, alpha, minutes = asked
    return plan_lines(plan, family, least_pairs(alpha, family), minutes)


def _answer(asked: _Asked, search: Bisection, code: int, *, as_json: bool) -> int:
    """Print the answer and write the report. Returns the exit code."""
    from quiclab.cli.analyse import analyse
    from quiclab.cli.ending import code_at_the_end
    from quiclab.cli.history_text import result_lines
    from quiclab.study.history.changes import findings

    told: list[HistoryFindings] = []

    def show(opened: AnalysedStudy, analysis: StudyAnalysis, console: VisibleConsole) -> None:
        record = asked.plan.record(search.unusable)
        told.append(findings(opened, opened.directory, analysis, record, search, asked.family))
        for line in (*result_lines(told[0]), f"More pairs of the same: {as_typed(asked.again)}"):
            console.print(line, highlight=False, markup=False)

    result = analyse(asked.study_dir, show=show)
    code = code_at_the_end(code, asked.study_dir, result)
    if as_json:
        from quiclab.cli.as_json import as_json as document_of
        from quiclab.cli.documents import HistoryDocument
        from quiclab.cli.status_document import VERSION

        print_document(
            document_of(
                HistoryDocument(
                    VERSION, str(asked.study_dir.root), code, asked.plan.sentence, asked.again, told[0], result
                )
            )
        )
    return code
