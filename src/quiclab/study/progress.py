# SPDX-License-Identifier: Apache-2.0
"""Progress of a study from outside, also while another process runs it: nothing is written, and no result is seen."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from quiclab.lab.endpoints.senders import senders_of
from quiclab.model.plan_row import PlanRow, by_block
from quiclab.model.study import Study
from quiclab.plan.duration import expected_duration
from quiclab.store.folder_lock import LOCK, holder_of
from quiclab.store.layout import DAMAGED, WITH_ITS_BLOCK, Attempt, StudyDir
from quiclab.store.ledger import look_into_ledger
from quiclab.study.pace import effort
from quiclab.study.selection import kept_part
from quiclab.study.sequential_run import planned_trials

_LATEST = 40
"""Trials whose pace tells how long the rest takes."""
_HEAD = 4096
"""Characters of a trial.json that say when it began, and more."""
_REST = 10
"""Multiple of the time that a trial is expected to take, and `_REST_S` beyond it, from which nothing ran meanwhile."""
_REST_S = 60


@dataclass(frozen=True)
class Trouble:
    """Attempts that ended the same way for the same reason, whatever numbers it has."""

    status: str
    """`failed`, `unproven`, `void` or `damaged`."""
    reason: str
    """Reason of the latest of them."""
    attempts: int
    latest: str
    """Place of that one, as `CELL ARM block N`."""


@dataclass(frozen=True)
class Progress:
    """Progress of a study."""

    rows: Sequence[PlanRow]
    """Planned trials that runs here are about, in the order in which the spec names cells and arms: all, or those of
    the latest run's part and of the runs before."""
    plan: Sequence[PlanRow]
    """All planned trials (`planned_trials`), in that order."""
    status: Mapping[str, str]
    """Trial → how its last attempt ended, or `damaged`; those that were not tried yet are not in it."""
    trouble: Sequence[Trouble]
    """The most frequent first."""
    holder: int | None
    """Process that works on the study; 0 where it is of another namespace, None where none does."""
    since_last_s: float | None
    """Seconds since the last attempt began that has ended; None where none has."""
    left_s: float
    """Seconds that the trials that are left will take, at the pace of the latest ones, with as many repeats."""
    with_their_block: int
    """Void attempts that were not at fault themselves, and are in no trouble: another trial of their block was."""

    @property
    def left(self) -> int:
        """Trials of `rows` that were not tried yet, or are void so far."""
        return self.left_of(self.rows)

    def left_of(self, rows: Iterable[PlanRow]) -> int:
        """Trials among `rows` that were not tried yet, or are void so far."""
        return sum(self.status.get(row.trial_id, "void") == "void" for row in rows)


def progress(study: Study, study_dir: StudyDir) -> Progress:
    """Look at a study. Raises DecodeError for a ledger that is damaged or not there."""
    plan = sorted(planned_trials(study, study_dir), key=_as_named(study))
    with look_into_ledger(study_dir) as ledger:
        taken = {row["trial_id"] for row in ledger.rows()}
        tries, damaged = ledger.attempts(), ledger.damaged()
    part = {row.trial_id for row in kept_part(study_dir).rows_of(plan)}
    rows = [row for row in plan if row.trial_id in taken | part]
    planned = {row.trial_id: row for row in rows}
    tries = {trial_id: each for trial_id, each in tries.items() if trial_id in planned}
    status = {trial_id: each[-1].status for trial_id, each in tries.items()}
    status |= dict.fromkeys(damaged.keys() & planned.keys(), DAMAGED)
    began = sorted(_began(study_dir, tries), key=lambda each: each[0])
    senders = senders_of(study)
    expected = {trial_id: expected_duration(row, study, senders).s for trial_id, row in planned.items()}
    left = [trial_id for trial_id in planned if status.get(trial_id, "void") == "void"]
    return Progress(
        rows,
        plan,
        status,
        _trouble(planned, tries, damaged),
        holder_of(study_dir.root / LOCK),
        time.time() - began[-1][0] if began else None,
        _pace(began, expected) * _effort(rows, tries, expected) * sum(expected[trial_id] for trial_id in left),
        sum(
            each.status == "void" and each.reason in WITH_ITS_BLOCK for attempts in tries.values() for each in attempts
        ),
    )


def _as_named(study: Study) -> Callable[[PlanRow], tuple[bool, int, int, int, str]]:
    """The order of a spec's tables, cells of the A/A control last."""
    workloads, paths, arms = ([each.name for each in table] for table in (study.workloads, study.paths, study.arms))
    return lambda row: (
        row.kind != "main",
        workloads.index(row.workload),
        paths.index(row.path),
        arms.index(row.arm_name),
        row.arm,
    )


def _began(study_dir: StudyDir, tries: Mapping[str, Sequence[Attempt]]) -> Iterator[tuple[float, str]]:
    """Begin of each attempt, in seconds since 1970, and its trial, by its own word: files of a copy are younger."""
    for trial_id, attempts in tries.items():
        for each in attempts:
            with suppress(OSError, ValueError):  # moved, lost or damaged by now
                with (study_dir.folder(each) / "trial.json").open(encoding="utf-8", errors="replace") as file:
                    head = file.read(_HEAD)
                if found := re.search(r'"started_utc": "([^"]+)"', head):
                    yield datetime.fromisoformat(found[1]).timestamp(), trial_id


def _pace(began: Sequence[tuple[float, str]], expected: Mapping[str, float]) -> float:
    """Time that the latest trials took, as a multiple of the expected one, without the times in which nothing ran.

    The sums are compared, as trials side by side begin in groups: many have no time between them.
    """
    gaps = [(after[0] - before[0], expected[before[1]]) for before, after in pairwise(began[-_LATEST:])]
    ran = [(took, planned) for took, planned in gaps if took <= _REST_S + _REST * planned]
    return sum(took for took, _ in ran) / sum(planned for _, planned in ran) if ran else 1.0


def _effort(rows: Sequence[PlanRow], tries: Mapping[str, Sequence[Attempt]], expected: Mapping[str, float]) -> float:
    """Attempts for each trial that counts, on average, weighed by the time that a trial takes."""
    run_s = sum(expected[trial_id] * len(each) for trial_id, each in tries.items())
    kept_s = sum(expected[trial_id] for trial_id, each in tries.items() if each[-1].status != "void")
    return effort(run_s, kept_s, sum(expected.values()) / max(1, len(by_block(rows))))


def kind_of_reason(reason: str) -> str:
    """A reason without its numbers and their units of time, which it shares with others of its kind."""
    return re.sub(r"\d[\d.,\u2009]*(\s?(ns|us|µs|ms|s)\b)?", "#", reason)


def _trouble(
    planned: Mapping[str, PlanRow], tries: Mapping[str, Sequence[Attempt]], damaged: Mapping[str, str]
) -> list[Trouble]:
    """Troubles: of attempts of the past too, except those that were not at fault themselves."""
    told = [
        (each.status, each.reason, trial_id)
        for trial_id, attempts in tries.items()
        for each in attempts
        if each.status != "verified" and each.reason not in WITH_ITS_BLOCK
    ]
    told += [(DAMAGED, lacks, trial_id) for trial_id, lacks in damaged.items() if trial_id in planned]
    counted = Counter((status, kind_of_reason(reason)) for status, reason, _ in told)
    latest = {(status, kind_of_reason(reason)): (reason, planned[trial_id]) for status, reason, trial_id in told}
    return [
        Trouble(kind[0], reason, number, f"{row.cell_id} {row.arm} block {row.block}")
        for kind, number in counted.most_common()
        for reason, row in (latest[kind],)
    ]
