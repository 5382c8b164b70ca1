# SPDX-License-Identifier: Apache-2.0
"""`quiclab tune STUDY CELL`: a search for settings of an arm's programs, tested in fresh blocks."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.confirm import spec_of, trials_of, typed_path
from quiclab.cli.needed_tables import make_needed_tables
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.own_name import as_typed
from quiclab.cli.run_options import add_backend, add_jobs
from quiclab.cli.voice import add_json, print_document
from quiclab.model.errors import RAN, ExitCode, SpecError
from quiclab.processes import in_fresh_process

if TYPE_CHECKING:
    from quiclab.model.study import Study
    from quiclab.study.confirm.confirming_run import Trials
    from quiclab.study.tune.result import TuningResult
    from quiclab.study.tune.tuning_plan import TuneRequest, TuningPlan

_USUAL_MINUTES = 10.0
_ENDS = ("client", "server", "tcp")
_DESCRIPTION = """\
Search the knobs of an arm's programs (congestion control, initial window, flow control, acknowledgments, pacing, GSO,
TCP's settings, ...) for the network of one cell of a study. Settings that change one knob race in shared blocks; the
slower half drops out after each round, and time that such a heat leaves goes to a further one, of settings that have
not raced. Winners are combined. Then fresh blocks with seeds of their own judge the setting that was chosen, against
the arm as it is: gain and interval come from these alone. Last it runs over neighbouring networks, so that a setting
that suits only this one is seen.
"""
_EPILOG = """\
examples:
  quiclab tune STUDY 1MB/long --dry-run            the settings that surely race, and what the minutes suffice for
  quiclab tune STUDY 1MB/long                      all of it, in 10 minutes
  quiclab tune STUDY 1MB/long --arm h3 --end server --minutes 30    only what the server's operator can set
  quiclab tune STUDY 1MB/long --knob initial_window --knob congestion_control --minutes 5
  quiclab tune STUDY 1MB/long --json > tuning.json
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "tune",
        help="search settings that make an arm faster in a cell, and test what was found in fresh blocks",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory, in which the cell has run")
    parser.add_argument("cell", metavar="CELL", help="WORKLOAD/PATH: the network that is tuned for")
    parser.add_argument("--arm", metavar="ARM", help="arm that is tuned (default: the slower one in the cell)")
    parser.add_argument(
        "--minutes",
        type=float,
        default=_USUAL_MINUTES,
        metavar="N",
        help=f"time for all of it (default: {_USUAL_MINUTES:g}): the number of settings and blocks follows from it",
    )
    parser.add_argument(
        "--end",
        action="append",
        choices=_ENDS,
        help="end whose settings are tried, again for a second one; server is the proxy where the arm has one, tcp "
        "is what Linux has at both ends (default: all)",
    )
    parser.add_argument("--knob", action="append", metavar="NAME", help="knob that is tried, again for more")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and run nothing")
    add_backend(parser)
    add_wait(parser)
    add_jobs(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Plan, search, and say what fresh blocks show.

    Raises SpecError for what cannot be tuned and for minutes that are too few; BusyError, HostError and DecodeError as
    `quiclab run` does.
    """
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.study.tune.search import search
    from quiclab.study.tune.tuning_plan import TuneRequest

    if not 0 < arguments.minutes < 10_000:
        raise SpecError(f"--minutes {arguments.minutes:g}: this is not a time", "give a number of minutes, such as 10")
    study = spec_of(arguments.study)
    in_fresh_process(make_needed_tables, arguments.study)
    request = TuneRequest(
        arguments.study,
        arguments.cell,
        arguments.arm,
        arguments.minutes,
        tuple(arguments.end or _ENDS),
        tuple(arguments.knob or ()),
    )
    plan: TuningPlan = in_fresh_process(_planned, (request, study))
    for line in in_fresh_process(_plan_lines, plan):
        print(line, flush=True)
    if arguments.dry_run:
        if arguments.json:
            print_document(in_fresh_process(_document, (plan, None, ExitCode.OK)))
        return ExitCode.OK
    print(f"Its studies: {typed_path(plan.directory)}", flush=True)
    begun: list[float] = []

    def trials(until_s: float) -> Trials:
        begun.append(until_s)
        return trials_of(arguments, until_s, "interrupted: finished trials are kept", goes_on=len(begun) > 1)

    with measuring(arguments):
        result, code = search(plan, trials, lambda line: print(line, flush=True))
    for line in in_fresh_process(_result_lines, result):
        print(as_typed(line), flush=True)
    if code == ExitCode.INTERRUPTED:
        print(as_typed(f"To go on with what was measured: {_same_command(arguments)}"), flush=True)
    if arguments.json and code in RAN:
        print_document(in_fresh_process(_document, (plan, result, code)))
    return code


def _same_command(arguments: argparse.Namespace) -> str:
    """Command that goes on with the search: whatever makes it this one."""
    words = ["quiclab", "tune", str(arguments.study), arguments.cell, "--minutes", f"{arguments.minutes:g}"]
    words += [] if arguments.arm is None else ["--arm", arguments.arm]
    for option in ("end", "knob"):
        words += [word for value in getattr(arguments, option) or () for word in (f"--{option}", value)]
    return shlex.join(words)


def _planned(asked: tuple[TuneRequest, Study]) -> TuningPlan:
    from quiclab.compare.interim_analyses import note_look
    from quiclab.study.tune.planning import plan_tuning

    plan = plan_tuning(*asked)
    note_look(asked[0].study)  # a plan shows which arm is the slower one
    return plan


def _plan_lines(plan: TuningPlan) -> list[str]:
    from quiclab.cli.tune_text import plan_lines

    return plan_lines(plan)


def _result_lines(result: TuningResult) -> list[str]:
    from quiclab.cli.tune_text import result_lines

    return result_lines(result)


def _document(asked: tuple[TuningPlan, TuningResult | None, int]) -> object:
    from quiclab.cli.as_json import as_json
    from quiclab.cli.status_document import VERSION
    from quiclab.cli.tune_document import TuneDocument

    plan, result, code = asked
    return as_json(
        TuneDocument(
            VERSION,
            str(plan.directory),
            code,
            plan.cell.arm.name,
            tuple(each.text for each in plan.candidates),
            tuple(each.text for each in plan.left_out),
            tuple(map(str, plan.neighbours)),
            result,
        )
    )
