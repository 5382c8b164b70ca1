# SPDX-License-Identifier: Apache-2.0
"""`quiclab trial`: one trial of a spec, told step by step, and open to look into."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.run_options import add_backend
from quiclab.cli.trouble import code_of
from quiclab.model.errors import SpecError, nearest
from quiclab.store.layout import OUT_ELSEWHERE, StudyDir

if TYPE_CHECKING:
    from quiclab.model.plan_row import PlanRow
    from quiclab.model.study import Study

_DESCRIPTION = """\
Run one trial of a spec and report every step: which programs are started, when their sockets are ready, the start, the
end, the verdict, and where the logs are. It does not count in any study: its folder is a study of its own, of one
trial, which `quiclab report` and `quiclab figure` can read.

With --keep, link and servers stay when the client has ended. With --shell, they stay for a shell in the namespace
of the client, of the server, or of a node of the path: it is root there, and only there. When the shell ends, or any of
its processes is killed, everything is gone. What you send meanwhile crosses the same link and appears in its logs.
"""

_EPILOG = """\
examples:
  quiclab trial experiments/demo/spec.toml --cell 1MB/loss --arm h3
  quiclab trial spec.toml --cell 1MB/loss --arm h3 --shell    then: ip addr; ss -ti; ping server
  quiclab trial spec.toml --cell 1MB/loss --arm h3 --shell --at server
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "trial",
        help="run one trial, step by step, and look into it",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "spec", type=Path, metavar="SPEC", help="spec.toml, a study directory, or a name of `quiclab studies`"
    )
    parser.add_argument("--cell", metavar="WORKLOAD/PATH", help="the cell, as `quiclab plan` names it")
    parser.add_argument("--arm", metavar="ARM", help="arm to run (default: the baseline)")
    parser.add_argument(
        "--block",
        type=int,
        default=0,
        metavar="N",
        help="use the seed of this block of the plan (default: 0, the first)",
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep link and servers running until Enter or Ctrl-C is pressed"
    )
    parser.add_argument("--shell", action="store_true", help="keep them running for a shell, until it ends")
    parser.add_argument(
        "--at", metavar="PLACE", help="where the shell is: client (the default), server, node-1, node-2, …"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the logs go (default: studies/NAME-trial)")
    add_backend(parser)
    add_wait(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises SpecError for a cell, an arm, a block or a place that is not there, and for a shell without a terminal."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.lab.testbed.terminal import terminal_restored
    from quiclab.store.study_folder import begin_in
    from quiclab.study.run import in_sandbox_of
    from quiclab.study.specs import keep_spec, load_study, spec_file_of

    spec_file = spec_file_of(arguments.spec)
    study = load_study(spec_file)
    row = find_row(study, arguments.cell, arguments.arm, arguments.block)
    place = _node_to_stay_at(study, row, arguments.at)
    if arguments.shell and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SpecError(
            "--shell needs a terminal, and this is none",
            "run it from a terminal (over ssh: ssh -t), or leave out --shell",
        )
    if arguments.at is not None and not arguments.shell:
        raise SpecError("--at says where the shell is, and there is none", "add --shell")
    study_dir = StudyDir((arguments.out or Path("studies", f"{study.name}-trial")).resolve())
    begin_in(study_dir)
    with study_dir.locked(OUT_ELSEWHERE):
        keep_spec(study_dir, spec_file, study)
        host_proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

        def inside() -> int:
            def work() -> int:
                from quiclab.cli.one_trial import Stay, run_and_tell

                stay = Stay(shell_at=place if arguments.shell else None, keep=arguments.keep, host_proc=host_proc)
                return run_and_tell(study, study_dir, row, arguments.backend, stay)

            return code_of(work, "interrupted: nothing is left of the trial")

        try:
            with measuring(arguments), terminal_restored():
                return in_sandbox_of(study_dir, inside)
        finally:
            os.close(host_proc)


def find_row(study: Study, cell: str | None, arm: str | None, block: int) -> PlanRow:
    """The row of the plan that is asked for. Raises SpecError with what there is instead."""
    from quiclab.plan.make import make_plan

    rows = make_plan(study)
    cells = list(dict.fromkeys(row.cell_id for row in sorted(rows, key=lambda row: (row.kind != "main", row.cell_id))))
    if cell is None:
        main = {row.cell_id for row in rows if row.kind == "main"}
        if len(main) > 1:
            raise SpecError("the spec has several cells: which one?", f"--cell with one of: {', '.join(cells)}")
        cell = main.pop()
    if cell not in cells:
        raise SpecError(f"there is no cell {cell!r}", nearest(cell, cells, "there are"))
    here = [row for row in rows if row.cell_id == cell]
    arms = sorted({row.arm for row in here})
    arm = arm or (study.baseline if study.baseline in arms else here[0].baseline_arm)
    if arm not in arms:
        raise SpecError(f"the cell {cell} has no arm {arm!r}", nearest(arm, arms, "it has"))
    blocks = sorted(row.block for row in here if row.arm == arm)
    if block not in blocks:
        raise SpecError(f"the cell {cell} has no block {block}", f"its blocks are 0 to {blocks[-1]}")
    return next(row for row in here if row.arm == arm and row.block == block)


def _node_to_stay_at(study: Study, row: PlanRow, asked: str | None) -> str:
    from quiclab.lab.runner.commands import path_of
    from quiclab.lab.runner.places import places

    there = places(path_of(study, row))
    if asked is not None and asked not in there:
        raise SpecError(f"--at {asked}: there is no such place on this path", f"places: {', '.join(there)}")
    return asked or there[0]
