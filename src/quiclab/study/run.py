# SPDX-License-Identifier: Apache-2.0
"""A whole study from its spec, as `quiclab run` does it, in one call."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from quiclab.lab.testbed.neighbours import announced
from quiclab.lab.testbed.sandbox import run_in_sandbox
from quiclab.model.errors import ExitCode, HostError, QuiclabError, SpecError
from quiclab.plan.part import WHOLE, Part
from quiclab.processes import in_fresh_process
from quiclab.spec.resolved import resolved_json
from quiclab.store.disk import disk_errors
from quiclab.store.keep_raw import KeepRaw
from quiclab.store.layout import StudyDir
from quiclab.study.claims import keep_claims, read_claims
from quiclab.study.specs import as_begun, held, load_study, spec_file_of

if TYPE_CHECKING:
    from quiclab.lab.testbed.link import Backend
    from quiclab.study.trials import Outcome

Result = TypeVar("Result")


@dataclass(frozen=True)
class _Asked:
    spec_file: Path
    study_dir: StudyDir
    backend: Backend | None
    jobs: int | None
    keep_raw: KeepRaw
    part: Part


def run_study(
    spec: Path | str,
    out: Path | str,
    *,
    backend: Backend | None = None,
    jobs: int | None = 1,
    keep_raw: str = "all",
    part: Part = WHOLE,
) -> Outcome:
    """Run every trial of a spec that has not been run yet, keep all in the directory `out`, and make its tables.

    `spec` is a spec.toml, or the directory of a study that is to go on. Up to so many trials run at a time (`jobs`), or
    as many as this machine has room for (None); `keep_raw` is a rule as `quiclab run --keep-raw` takes it; of a
    plan only `part` is run. It works from a program with threads, such as a notebook. Raises SpecError for a wrong spec
    or rule, HostError where this machine cannot run it, BusyError where another run holds the directory.
    """
    try:
        keep = KeepRaw.parse(keep_raw)
    except ValueError as error:
        raise SpecError(f"keep_raw: {error}") from error
    if jobs is not None and jobs < 1:
        raise SpecError(
            f"jobs: {jobs} trials at a time are none", "give a number from 1 on, or None for as many as fit"
        )
    asked = _Asked(spec_file_of(Path(spec)).absolute(), StudyDir(Path(out).resolve()), backend, jobs, keep, part)
    return in_fresh_process(_run, asked)


def in_sandbox_of(study_dir: StudyDir, inside: Callable[[], int]) -> int:
    """Run `inside` in a sandbox, and remove what it used of the directory to work in. Returns its exit code."""
    try:
        with announced():
            return run_in_sandbox(inside)
    finally:
        with disk_errors(study_dir.root):
            shutil.rmtree(study_dir.root / ".work", ignore_errors=True)


def _run(asked: _Asked) -> Outcome:
    study_dir = asked.study_dir
    study = as_begun(load_study(asked.spec_file), asked.spec_file, study_dir)
    claims = read_claims(asked.spec_file, resolved_json(study))
    with held(study_dir, asked.spec_file, study):
        keep_claims(study_dir, asked.spec_file, claims)

        def trials() -> Outcome:
            from quiclab.study.side_by_side import up_to  # only light imports before the sandbox

            with up_to(asked.jobs) as side_by_side:
                from quiclab.study.trials import run_trials

                return run_trials(
                    study,
                    study_dir,
                    asked.backend,
                    part=asked.part,
                    side_by_side=side_by_side,
                    keep_raw=asked.keep_raw,
                )

        outcome = told_by_the_sandbox(study_dir, trials)
        from quiclab.study.tables import make_tables

        make_tables(study_dir)
        return outcome


def told_by_the_sandbox(study_dir: StudyDir, work: Callable[[], Result]) -> Result:
    """Result of `work` in a sandbox, or the error that it raises there. Raises KeyboardInterrupt for SIGTERM."""
    with tempfile.TemporaryFile() as told:

        def inside() -> int:
            try:
                answer: Result | QuiclabError = work()
            except QuiclabError as error:
                answer = error
            pickle.dump(answer, told)
            told.flush()
            return ExitCode.OK

        code = in_sandbox_of(study_dir, inside)
        if code == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        if code != ExitCode.OK:
            raise HostError(
                f"the sandbox of {study_dir.root} ended with code {code}", "run it again: finished trials are kept"
            )
        told.seek(0)
        answer: Result | QuiclabError = pickle.load(told)  # noqa: S301 - from our own process
    if isinstance(answer, QuiclabError):
        raise answer
    return answer
