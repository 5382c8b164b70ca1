# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --dask`: what the option goes with, and what is said of workers while they run blocks."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

from quiclab.cli.run_options import ONE_JOB
from quiclab.cli.trials import Bar, tell
from quiclab.cli.trouble import code_of
from quiclab.model import number_text
from quiclab.model.errors import SpecError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.plan.part import Part
from quiclab.store.layout import StudyDir
from quiclab.study.dask.cluster import check_dask, connected
from quiclab.study.dask.cluster_observer import ClusterObserver
from quiclab.study.dask.coordinator import Asked, files_of, run_on_cluster
from quiclab.study.observer import Both, Observer
from quiclab.study.stopping import Stop


class ClusterBar(Bar, ClusterObserver):
    """The bar of every run, with notes about workers above it."""

    def __init__(self) -> None:
        """Prepare it; a worker whose programs are not all there is left out before."""
        super().__init__(anyway=True, rounds_later=0)

    def waiting(self, where: str) -> None:
        self._note(f"waiting for workers of {escape(where)}")

    def joined(self, worker: str) -> None:
        self._note(f"worker {escape(worker)}: examined, it gets blocks")

    def left_out(self, worker: str, reasons: Sequence[str]) -> None:
        self._note(f"[yellow]worker {escape(worker)} gets no blocks: {escape('; '.join(reasons))}[/yellow]")

    def lost(self, worker: str, rows: Sequence[PlanRow]) -> None:
        self._note(f"[yellow]worker {escape(worker)} is gone: {_cell_and_block(rows)} is run again[/yellow]")

    def no_result(self, worker: str, rows: Sequence[PlanRow], reason: str) -> None:
        self._note(
            f"[yellow]worker {escape(worker)} sent no result of {_cell_and_block(rows)}: {escape(reason)}[/yellow]"
        )

    def not_for_workers(self, blocks: int) -> None:
        self._note(
            f"{number_text.counted(blocks, 'block')} disturbed in every attempt, or begun before: `quiclab run STUDY` "
            "without --dask goes on with them"
        )

    def over(self) -> None:
        self._most_under_way = 0  # blocks that ran at a time did so on several workers, and nothing bounded them
        super().over()


class _Watched(Both, ClusterObserver):
    """A bar and what else watches the run; of workers the bar alone hears."""

    def __init__(self, bar: ClusterBar, watchers: Observer) -> None:
        super().__init__(bar, watchers)
        self._bar = bar

    def joined(self, worker: str) -> None:
        self._bar.joined(worker)

    def left_out(self, worker: str, reasons: Sequence[str]) -> None:
        self._bar.left_out(worker, reasons)

    def lost(self, worker: str, rows: Sequence[PlanRow]) -> None:
        self._bar.lost(worker, rows)
        self.run_anew(rows, f"worker {worker} is gone")

    def no_result(self, worker: str, rows: Sequence[PlanRow], reason: str) -> None:
        self._bar.no_result(worker, rows, reason)
        self.run_anew(rows, f"worker {worker} sent no result: {reason}")

    def waiting(self, where: str) -> None:
        self._bar.waiting(where)

    def not_for_workers(self, blocks: int) -> None:
        self._bar.not_for_workers(blocks)


def check_options(arguments: argparse.Namespace) -> None:
    """Raise SpecError for options that say nothing beside --dask, or name no cluster; HostError without Dask."""
    if arguments.until is not None:
        told = "--until looks after each round of blocks, and --dask runs a plan that is fixed"
        raise SpecError(told, "run the spec's blocks with --dask first, and then the same study with --until alone")
    if arguments.jobs != ONE_JOB:
        raise SpecError("--jobs with --dask: each worker runs one block at a time", "start more workers instead")
    check_dask(arguments.dask, without_tls=arguments.without_tls)


def run_by_workers(
    arguments: argparse.Namespace,
    spec_file: Path,
    study: Study,
    study_dir: StudyDir,
    part: Part,
    again: str,
    bar: ClusterBar,
    watchers: Observer,
) -> int:
    """Have the workers run what is left of a study that is held. Returns the exit code; `again` is the command that
    goes on."""
    asked = Asked(study, study_dir, part, arguments.backend, arguments.keep_raw, arguments.anyway)
    observer, scratch = _Watched(bar, watchers), study_dir.root / ".work"

    def work() -> int:
        observer.waiting(arguments.dask)
        with (
            connected(arguments.dask, scratch, without_tls=arguments.without_tls) as cluster,
            Stop(observer.stopping) as stop,
        ):
            outcome = run_on_cluster(asked, files_of(spec_file, study), cluster, observer, stop)
        return tell(outcome, "`quiclab run STUDY` without --dask")

    shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed
    try:
        return code_of(work, f"interrupted: finished trials are kept; continue with: {again}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _cell_and_block(rows: Sequence[PlanRow]) -> str:
    return f"{rows[0].cell_id} block {rows[0].block}"
