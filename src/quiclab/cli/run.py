# SPDX-License-Identifier: Apache-2.0
"""`quiclab run`: run a study, or go on with one that was interrupted, and write its tables and its report."""

from __future__ import annotations

import argparse
from pathlib import Path

from quiclab.cli.trouble import code_of
from quiclab.errors import ExitCode
from quiclab.store.layout import StudyDir


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "run",
        help="run a study, or continue one, and write its report",
        description="Run every trial of a spec that has not been run yet, judge it, decode it, test the differences "
        "and write STUDY/report.html. After Ctrl-C, a crash or kill -9 the same command continues; finished trials "
        "stay.",
    )
    parser.add_argument("spec", type=Path, help="spec.toml, or a study directory to continue")
    parser.add_argument("--out", type=Path, metavar="STUDY", help="study directory (default: studies/NAME)")
    parser.add_argument(
        "--backend", choices=("tun", "veth"), help="how packets reach the link (default: tun if it opens, else veth)"
    )
    parser.add_argument(
        "--until",
        metavar="PERCENT",
        help="go on after the spec's blocks until each cell is decided: different, by less than so many per cent or by "
        "more, or alike to within that; tested so that the error rate holds however often it is looked at",
    )
    parser.add_argument(
        "--at-most",
        type=int,
        metavar="PAIRS",
        help="with --until: most pairs of a cell (default: 5 times the spec's blocks)",
    )
    parser.add_argument("--no-report", action="store_true", help="stop after the last trial")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Enter the sandbox for the trials; decode and report outside it."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.cli.until import look, read_goal
    from quiclab.spec.resolved import resolved_json
    from quiclab.study.claims import keep_claims, read_claims
    from quiclab.study.run import in_sandbox_of
    from quiclab.study.specs import held, load_study, spec_file_of
    from quiclab.study.until import planned_blocks

    spec_file = spec_file_of(arguments.spec)
    study = load_study(spec_file)
    goal = read_goal(arguments.until, arguments.at_most, study)
    claims = read_claims(spec_file, resolved_json(study))
    study_dir = StudyDir(
        (arguments.out or (arguments.spec if arguments.spec.is_dir() else Path("studies", study.name))).resolve()
    )
    with held(study_dir, spec_file, study) as changes:
        for change in changes:
            print(change)
        keep_claims(study_dir, spec_file, claims)

        def trials() -> int:
            def work() -> int:
                from quiclab.cli.trials import Bar, tell
                from quiclab.study.trials import run_trials

                blocks = planned_blocks(study_dir)
                return tell(run_trials(study, study_dir, arguments.backend, blocks=blocks, observer=Bar()))

            told = f"interrupted: finished trials are kept; continue with: quiclab run {study_dir.root}"
            return code_of(work, told)

        while True:
            code = in_sandbox_of(study_dir, trials)
            if code not in (ExitCode.OK, ExitCode.TRIALS_FAILED):
                return code
            if goal is None or not look(study_dir, study, goal):
                break
        if arguments.no_report:
            return code
        from quiclab.cli.analyse import analyse

        analyse(study_dir)
        return code
