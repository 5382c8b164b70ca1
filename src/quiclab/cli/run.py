# SPDX-License-Identifier: Apache-2.0
"""`quiclab run`: run a study, or go on with one that was interrupted, and write its tables and its report."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.cli.trouble import code_of
from quiclab.errors import DecodeError, ExitCode, SpecError
from quiclab.store.identity import conflicts
from quiclab.store.layout import StudyDir, disk_errors, read_object, write_atomically

if TYPE_CHECKING:
    from quiclab.spec.model import Study


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
        help="go on after the spec's blocks until each cell is decided: different, or alike to within so many per "
        "cent; tested so that the error rate holds however often it is looked at",
    )
    parser.add_argument(
        "--at-most",
        type=int,
        metavar="PAIRS",
        help="with --until: pairs of a cell (default: 5 times the spec's blocks)",
    )
    parser.add_argument("--no-report", action="store_true", help="stop after the last trial")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Enter the sandbox for the trials; decode and report outside it."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.cli.paper import keep_claims, read_claims
    from quiclab.cli.plan import describe_arms, load_study
    from quiclab.cli.until import look, planned_blocks, read_goal
    from quiclab.spec.resolved import resolved_json
    from quiclab.testbed.cpu_limit import remove_leftover_cgroups
    from quiclab.testbed.sandbox import run_in_sandbox

    spec_file: Path = arguments.spec / "spec.toml" if arguments.spec.is_dir() else arguments.spec
    study = load_study(spec_file)
    goal = read_goal(arguments.until, arguments.at_most, study)
    claims = read_claims(spec_file, resolved_json(study))
    study_dir = StudyDir(
        (arguments.out or (arguments.spec if arguments.spec.is_dir() else Path("studies", study.name))).resolve()
    )
    study_dir.create()
    with study_dir.locked():
        remove_leftover_cgroups()
        study_dir.remove_unfinished()
        keep_spec(study_dir, spec_file, resolved_json(study) | {"arms_summary": describe_arms(study)}, study)
        keep_claims(study_dir, spec_file, claims)

        def trials() -> int:
            def work() -> int:
                from quiclab.cli.trials import run_trials

                return run_trials(study, study_dir, arguments.backend, blocks=planned_blocks(study_dir))

            told = f"interrupted: finished trials are kept; continue with: quiclab run {study_dir.root}"
            return code_of(work, told)

        while True:
            try:
                code = run_in_sandbox(trials)
            finally:
                with disk_errors(study_dir.root):
                    shutil.rmtree(study_dir.root / ".work", ignore_errors=True)
            if code not in (ExitCode.OK, ExitCode.TRIALS_FAILED):
                return code
            if goal is None or not look(study_dir, study, goal):
                break
        if arguments.no_report:
            return code
        from quiclab.cli.analyse import analyse

        analyse(study_dir)
        return code


def keep_spec(study_dir: StudyDir, spec_file: Path, resolved: dict[str, Any], study: Study) -> None:
    """Keep the spec and traces beside it with the study. Raises SpecError where what has run would change."""
    if any(each in str(study_dir.root) for each in "{}"):
        hint = "choose another directory with --out"
        raise SpecError(f"{study_dir.root}: servers take {{ and }} in the names of files for placeholders", hint)
    if study_dir.resolved.exists() or study_dir.ledger.exists():
        before = read_object(study_dir.resolved)
        try:
            found = conflicts(before, resolved)
        except (KeyError, TypeError, AttributeError) as error:
            told = f"{study_dir.resolved} is no resolved spec: {error!r} is not as it should be"
            raise DecodeError(told, "put it back from a copy of the study") from error
        if found:
            hint = "a study may grow, but not change: choose another directory with --out"
            raise SpecError(f"{spec_file} differs from the spec that {study_dir.root} was run with", hint, found)
    folder = spec_file.resolve().parent
    if folder != study_dir.root:
        for trace in traces_of(study):
            if trace.is_relative_to(folder):
                write_atomically(study_dir.root / trace.relative_to(folder), trace.read_bytes())
        write_atomically(study_dir.spec, spec_file.read_bytes())
    write_atomically(study_dir.resolved, json.dumps(resolved, indent=1))


def traces_of(study: Study) -> set[Path]:
    """Files of rates that the study's paths name."""
    directions = [direction for path in study.paths for link in path.links for direction in (link.up, link.down)]
    return {Path(direction.trace) for direction in directions if direction.trace is not None}
