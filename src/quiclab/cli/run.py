# SPDX-License-Identifier: Apache-2.0
"""`quiclab run`: run a study, or go on with one that was interrupted, and write its tables and its report."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.behind_bar import run_behind_bar
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.own_name import as_typed
from quiclab.cli.run_options import add_backend, add_jobs, add_keep_raw, jobs_again, keep_raw_again, part_again
from quiclab.cli.trouble import code_of
from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.model.errors import RAN, ExitCode, SpecError
from quiclab.store.layout import StudyDir

if TYPE_CHECKING:
    from quiclab.cli.trials import Bar
    from quiclab.model.study import Study
    from quiclab.plan.part import Part
    from quiclab.study.observer import Observer

_EPILOG = """\
examples:
  quiclab run experiments/demo/spec.toml
  quiclab run studies/demo                    go on after Ctrl-C, or try disturbed trials again
  quiclab run spec.toml --blocks 2            a first look; without --blocks it goes on
  quiclab run spec.toml --blocks 2 --cell 1MB/loss
  quiclab run spec.toml --until 5% --at-most 60
  quiclab run spec.toml --jobs auto           trials side by side, as many as leave each other alone
  quiclab run spec.toml --keep-raw failures   without the logs of trials that went well
  quiclab run spec.toml --shard 2/8           one of eight machines; then `quiclab merge`
  quiclab run spec.toml --dask tls://HOST:8786    on the workers of a Dask cluster
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "run",
        help="run a study, or continue one, and write its report",
        description="Run every trial of a spec that has not been run yet, judge it, decode it, test the differences "
        "and write STUDY/report.html. The first Ctrl-C finishes the blocks under way, a second one stops at once. "
        "After either, after a crash or kill -9, the same command continues; finished trials stay.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "spec",
        type=Path,
        metavar="SPEC",
        help="spec.toml, a study directory to continue, or a name of `quiclab studies`",
    )
    parser.add_argument("--out", type=Path, metavar="STUDY", help="study directory (default: studies/NAME)")
    add_backend(parser)
    parser.add_argument(
        "--until",
        metavar="PERCENT",
        help="go on after the spec's blocks until each cell is decided: different, by less than so many per cent or by "
        "more, or equivalent to within that; tested so that the error rate holds however often it is looked at",
    )
    parser.add_argument(
        "--at-most",
        type=int,
        metavar="PAIRS",
        help="with --until: most pairs of a cell (default: 5 times the spec's blocks, or what the study had before)",
    )
    add_jobs(parser)
    add_wait(parser)
    add_keep_raw(parser)
    look = parser.add_argument_group("a part of the plan", "The same command without these runs the rest.")
    look.add_argument("--blocks", type=int, metavar="N", help="only the first N blocks of each cell")
    look.add_argument(
        "--cell",
        action="append",
        default=[],
        metavar="WORKLOAD/PATH",
        help="only this cell, without the A/A control; again for more cells",
    )
    look.add_argument(
        "--shard",
        type=_shard,
        metavar="I/N",
        help="only the I-th of N parts, each of whole blocks, for one of N machines: `quiclab merge` joins them",
    )
    parser.add_argument(
        "--dask",
        metavar="WHERE",
        help="have the workers of a Dask cluster run the blocks, one block at a time each: tls://HOST:PORT of its "
        "scheduler, or local:N for N workers on this machine (needs Dask)",
    )
    parser.add_argument(
        "--without-tls",
        action="store_true",
        help="with --dask tcp://HOST:PORT: use a cluster without TLS, where everybody who reaches its scheduler or a "
        "worker can run programs as you, there and on this machine",
    )
    parser.add_argument(
        "--anyway", action="store_true", help="begin although programs of some arms are not here: their trials fail"
    )
    parser.add_argument(
        "--medians",
        action="store_true",
        help="show in the terminal the median so far of each arm in each cell, which counts as a look at the result: "
        "blocks that are added to the spec later are then tested more strictly",
    )
    parser.add_argument(
        "--events",
        metavar="FILE",
        help="add what happens to this file as JSON lines, one for each event, for a program that watches; - is "
        "standard output, in a terminal instead of words (docs/reference/json.md has their keys)",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="serve a page to the browsers of this machine that shows how far the run is, and no result",
    )
    parser.add_argument("--no-report", action="store_true", help="stop after the last trial")
    add_quiet(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Enter the sandbox for the trials; decode and report outside it."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.cli.event_file import event_file
    from quiclab.cli.foreseen import print_foreseen
    from quiclab.cli.until import look_at_study, read_goal
    from quiclab.cli.watch import watched
    from quiclab.plan.part import Part, check_part
    from quiclab.spec.resolved import resolved_json
    from quiclab.study.claims import keep_claims, read_claims
    from quiclab.study.run import in_sandbox_of
    from quiclab.study.selection import keep_part
    from quiclab.study.sequential_run import begin_growth, planned_blocks
    from quiclab.study.specs import as_begun, held, load_study, spec_file_of

    if arguments.dask is not None:
        from quiclab.cli.dask import ClusterBar, check_options, run_by_workers

        check_options(arguments)
    elif arguments.without_tls:
        raise SpecError("--without-tls is for --dask tcp://HOST:PORT", "leave it out, or add --dask")
    spec_file = spec_file_of(arguments.spec)
    study = load_study(spec_file)
    if not arguments.quiet:
        print_foreseen(study)
    part = Part(arguments.blocks, tuple(arguments.cell), arguments.shard)
    goal = read_goal(arguments.until, arguments.at_most, study)
    if goal is not None and not part.is_whole:
        told = "--until decides how many blocks run, and of which cells"
        raise SpecError(told, "leave out --blocks, --cell and --shard")
    check_part(part, study)
    claims = read_claims(spec_file, resolved_json(study))
    study_dir = StudyDir((arguments.out or _usual_place(arguments.spec, study.name, part)).resolve())
    study = as_begun(study, spec_file, study_dir)
    with (
        event_file(arguments.events, as_json=arguments.json) as events,
        watched(study_dir.root, asked=arguments.watch) as page,
        held(study_dir, spec_file, study) as changes,
    ):
        for change in changes:
            print(change)
        keep_claims(study_dir, spec_file, claims)
        keep_part(study_dir, part)
        if goal is not None:
            goal = begin_growth(study_dir, study, goal, chosen=arguments.at_most is not None)

        again = _again(study_dir, part, arguments)

        def finish(code: int) -> int:
            from quiclab.model.number_text import from_here

            told = f"interrupted: all trials are kept; for the report: quiclab report {from_here(study_dir.root)}"
            return code_of(lambda: _finish(arguments, study, study_dir, part, code, events), told)

        if arguments.dask is not None:
            bar = ClusterBar()
            watchers = _watchers(bar, arguments, study_dir, events, page)
            code = run_by_workers(arguments, spec_file, study, study_dir, part, again, bar, watchers)
            return finish(code) if code in RAN else _end_early(study, study_dir, code, events)

        batches = 0

        def trials(blocks: Mapping[str, int]) -> int:
            return run_behind_bar(
                study,
                study_dir,
                backend=arguments.backend,
                jobs=arguments.jobs,
                interrupted=f"interrupted: finished trials are kept; continue with: {again}",
                blocks=blocks,
                part=part,
                keep_raw=arguments.keep_raw,
                anyway=arguments.anyway,
                goes_on=batches > 1,
                watched_by=lambda bar: _watchers(bar, arguments, study_dir, events, page),
                tables_follow=goal is not None or not arguments.no_report,
            )

        with measuring(arguments):
            while True:
                batches += 1
                code = in_sandbox_of(study_dir, partial(trials, planned_blocks(study_dir)))
                if code not in RAN:
                    return _end_early(study, study_dir, code, events)
                if goal is None or not look_at_study(study_dir, study, goal):
                    break
        return finish(code)


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N, such as 2/8")
    return int(number), int(of)


def _usual_place(spec: Path, name: str, part: Part) -> Path:
    """Folder of a study without --out: shards beside each other, as each is a study of its own."""
    if spec.is_dir():
        return spec
    return Path("studies", name if part.shard is None else f"{name}-{part.shard[0]}-of-{part.shard[1]}")


def _watchers(
    bar: Bar, arguments: argparse.Namespace, study_dir: StudyDir, events: int | None, page: int | None
) -> Observer:
    """Observer of a run beside its bar, by the options; `events` and `page` are descriptors for events."""
    from quiclab.study.observer import NOBODY, Both

    watchers = NOBODY
    if arguments.medians and bar.is_drawn:
        from quiclab.cli.medians import Medians

        medians = Medians(study_dir)
        bar.show_medians(medians.heading, medians.shown)
        watchers = Both(watchers, medians)
    if events is not None:
        from quiclab.cli.events import Events

        watchers = Both(watchers, Events(events, study_dir.root))
    if page is not None:
        from quiclab.cli.events import PageEvents

        watchers = Both(watchers, PageEvents(page, study_dir.root))
    return watchers


def _end_early(study: Study, study_dir: StudyDir, code: int, events: int | None) -> int:
    """Tell those that read events that an interrupted run is over. Returns its code."""
    if code == ExitCode.INTERRUPTED and events is not None and study_dir.ledger.exists():
        from quiclab.cli.events import Events, Finished
        from quiclab.cli.run_document import counts

        Events(events, study_dir.root).write(Finished(code, counts(study, study_dir)))
    return code


def _finish(
    arguments: argparse.Namespace, study: Study, study_dir: StudyDir, part: Part, code: int, events: int | None
) -> int:
    """Report what has run, and say what has not."""
    if arguments.no_report and part.is_whole and not arguments.json and events is None:
        return code  # Nothing is told, and what would tell it takes half a second to import.
    from quiclab.cli.ending import code_at_the_end
    from quiclab.cli.run_document import counts, run_document
    from quiclab.plan.part import WHOLE

    result = None
    if not arguments.no_report:
        from quiclab.cli.analyse import analyse

        result = analyse(study_dir)
    code = code_at_the_end(code, study_dir, result)
    trials = counts(study, study_dir)
    left = trials.not_run + trials.void
    if not part.is_whole and left:
        told = f"This was a part of the plan: {left} of {trials.planned} trials are left."
        rest = f"The rest: {_again(study_dir, WHOLE, arguments)}"
        if part.shard is not None:
            rest = f"Join the shards: {shlex.join(['quiclab', 'merge', 'STUDY', str(study_dir.root), 'OTHER'])} …"
        print(as_typed(f"{told} {rest}"))
    if events is not None:
        from quiclab.cli.events import Events, Finished

        Events(events, study_dir.root).write(Finished(code, trials))
    if arguments.json:
        print_document(run_document(study_dir, code, trials, result))
    return code


def _again(study_dir: StudyDir, part: Part, arguments: argparse.Namespace) -> str:
    """The command that goes on with a study."""
    dask = [] if arguments.dask is None else ["--dask", arguments.dask]
    dask += ["--without-tls"] if arguments.without_tls else []
    until = [] if arguments.until is None else ["--until", arguments.until]
    until += [] if arguments.at_most is None else ["--at-most", str(arguments.at_most)]
    more = [*part_again(part), *until, *jobs_again(arguments.jobs), *keep_raw_again(arguments.keep_raw), *dask]
    return shlex.join(["quiclab", "run", str(study_dir.root), *more])
