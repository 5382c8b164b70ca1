# SPDX-License-Identifier: Apache-2.0
"""`quiclab compare --interleave`: run two builds as arms of one study, in the same blocks."""

from __future__ import annotations

import argparse
import shlex
import tempfile
from pathlib import Path

from quiclab.cli.behind_bar import run_behind_bar
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.run_options import ONE_JOB, add_backend, add_jobs, jobs_again
from quiclab.model.errors import RAN, SpecError
from quiclab.store.layout import StudyDir


def add_options(parser: argparse.ArgumentParser) -> None:
    """Teach `quiclab compare` what running both builds takes."""
    options = parser.add_argument_group("--interleave")
    options.add_argument(
        "--interleave", action="store_true", help="OLD and NEW are specs: run both builds in the same blocks of a study"
    )
    options.add_argument("--blocks", type=int, metavar="N", help="blocks of each cell (default: as OLD has)")
    options.add_argument("--out", type=Path, metavar="STUDY", help="its directory (default: studies/NAME-interleaved)")
    add_backend(options)
    add_wait(options)
    add_jobs(options)


def refuse_without(arguments: argparse.Namespace) -> None:
    """Raise SpecError for an option that does nothing with or without --interleave."""
    given = [name for name in ("blocks", "out", "backend", "wait") if getattr(arguments, name) is not None]
    given += ["jobs"] * (arguments.jobs != ONE_JOB)
    if given and not arguments.interleave:
        raise SpecError(f"--{given[0]} is for a study to be run", "add --interleave, with two specs as OLD and NEW")
    if arguments.allow and arguments.interleave:
        raise SpecError("--allow: in one study nothing but the arms can differ", "leave it out")
    if arguments.blocks is not None and arguments.blocks < 1:
        raise SpecError(f"--blocks {arguments.blocks}: a study has at least one block", "give 1 or more")


def run_interleaved(arguments: argparse.Namespace) -> tuple[StudyDir, int]:
    """Run what is not done yet of the study of both builds. Returns its directory, and how running it ended."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.spec.two_builds import Build, interleave
    from quiclab.study.run import in_sandbox_of
    from quiclab.study.specs import held, load_study, spec_file_of

    old, new = (
        Build(file, load_study(file)) for file in (spec_file_of(place) for place in (arguments.old, arguments.new))
    )
    with tempfile.TemporaryDirectory() as folder:
        spec_file = Path(folder, "spec.toml")
        spec_file.write_text(interleave(old, new, arguments.arm, arguments.blocks), encoding="utf-8")
        study = load_study(spec_file)
        study_dir = StudyDir((arguments.out or Path("studies", study.name)).resolve())
        with held(study_dir, spec_file, study):

            def trials() -> int:
                again = shlex.join(["quiclab", "run", str(study_dir.root), *jobs_again(arguments.jobs)])
                return run_behind_bar(
                    study,
                    study_dir,
                    backend=arguments.backend,
                    jobs=arguments.jobs,
                    interrupted=f"interrupted: finished trials are kept; the same command continues, as does {again}",
                )

            with measuring(arguments):
                code = in_sandbox_of(study_dir, trials)
            if code in RAN:
                from quiclab.cli.analyse import make_tables_visibly
                from quiclab.cli.console import VisibleConsole

                make_tables_visibly(study_dir, VisibleConsole())
    return study_dir, code
