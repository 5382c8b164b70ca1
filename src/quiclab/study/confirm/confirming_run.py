# SPDX-License-Identifier: Apache-2.0
"""A confirming run: blocks until the declared checks are decided, or the minutes are used up."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from quiclab.model.errors import RAN, DecodeError
from quiclab.model.study import Study
from quiclab.processes import in_fresh_process
from quiclab.store.layout import COPIED, DECLARATION, StudyDir
from quiclab.study.confirm.plan import Plan
from quiclab.study.run import in_sandbox_of
from quiclab.study.sequential_run import Goal, keep_growth, looks_so_far, more_blocks, planned_blocks
from quiclab.study.specs import held, load_study

_TEXTS = {"undecided": "inconclusive"}
"""Words for readers, by the verdict that files keep."""
MOST_PAIRS = 400
"""Most blocks of a run, whatever its time."""
Trials = Callable[[Study, StudyDir, Mapping[str, int]], int]
"""Runs all trials of a study that are not done yet, inside the sandbox, and returns an exit code."""


@dataclass(frozen=True)
class Judged:
    """Result of a look at a confirming run, for a process that must not load what reads tables."""

    verdict: str
    """`confirmed`, `rejected` or `undecided`."""
    final: bool
    """True if more blocks would change nothing."""
    blocks: int
    """Blocks with both runs."""
    lacking: int
    """Further blocks, in which one of them has no account."""
    states: tuple[tuple[str, str], ...]
    """Each check with what is known of it."""


class Runnable(Protocol):
    """A plan that runs in blocks until it is decided."""

    @property
    def directory(self) -> Path:
        """Directory of its study."""
        ...

    @property
    def begun(self) -> bool:
        """True if it goes on."""
        ...

    @property
    def spec(self) -> str:
        """Text of its spec, made from the spec of the study that it follows."""
        ...

    @property
    def block_ms(self) -> float:
        """Time that a block is expected to take."""
        ...

    @property
    def effect_pct(self) -> float:
        """Bound below which times count as the same, in per cent of the whole."""
        ...


P = TypeVar("P", bound=Runnable)


def run_confirmation(plan: Plan, minutes: float, trials: Trials) -> tuple[Judged | None, int]:
    """Run the plan of one cause: see `run_in_rounds`. Raises DecodeError too, where the declaration was changed."""
    return run_in_rounds(plan, minutes, trials, _declare, _judge_so_far)


def run_in_rounds(
    plan: P, minutes: float, trials: Trials, declare: Callable[[P], None], look: Callable[[P], Judged]
) -> tuple[Judged | None, int]:
    """Declare, run, and look, in turns; `declare` and `look` work in processes of their own.

    Returns what the last look found, and the exit code of the runs; None where a run ended early. Raises BusyError
    where another run holds the directory.
    """
    began = time.monotonic()
    with holding(plan.directory, plan.spec) as (study_dir, study):
        in_fresh_process(declare, plan)
        return _rounds(plan, study_dir, study, trials, look, lambda: minutes * 60 - (time.monotonic() - began))


@contextmanager
def holding(directory: Path, text: str) -> Iterator[tuple[StudyDir, Study]]:
    """Make the directory of a study of this spec, and hold it. Raises BusyError where another run holds it."""
    study_dir = StudyDir(directory)
    with tempfile.TemporaryDirectory() as folder:
        # Never the spec in the directory, which may have come with the study: what it names would be run.
        spec = Path(folder, "spec.toml")
        spec.write_text(text, encoding="utf-8")
        study = load_study(spec)
        with held(study_dir, spec, study, COPIED):
            yield study_dir, study


def _rounds(
    plan: P,
    study_dir: StudyDir,
    study: Study,
    trials: Trials,
    look: Callable[[P], Judged],
    left_s: Callable[[], float],
) -> tuple[Judged | None, int]:
    """Run and look, until it is decided or no further blocks fit into the time that is left."""
    goal = Goal(plan.effect_pct, MOST_PAIRS)
    cells = [f"{workload.name}/{path.name}" for path in study.paths for workload in study.measured_workloads]
    looks, known = looks_so_far(study_dir), -1
    block_s, before = plan.block_ms / 1000, None if plan.begun else 0
    while True:
        blocks, began_s = planned_blocks(study_dir), left_s()
        code = in_sandbox_of(study_dir, lambda blocks=blocks: trials(study, study_dir, blocks))  # type: ignore[misc]
        if code not in RAN:
            return None, code
        took_s, judged = began_s - left_s(), in_fresh_process(look, plan)
        if before is not None and judged.blocks > before:
            block_s = took_s / (judged.blocks - before)  # side by side they take less than the plan says
        before = judged.blocks
        looks += 1
        _tell(looks, judged)
        # Blocks that are added after a look make this a sequential study, for its report too.
        seen = [{"pairs": dict.fromkeys(cells, judged.blocks), "states": {}}] * looks
        now = max(study.blocks, *blocks.values(), 0)
        missing = now - judged.blocks if judged.blocks > known else 0
        # Blocks that stayed void are tried again before there are more of them, as long as that helps.
        grown = blocks if missing else more_blocks(set(cells), blocks, study.blocks, goal.at_most)
        more = missing or max(grown.values()) - now
        keep_growth(study_dir, study, goal, blocks, seen)
        if judged.final or not more or more * block_s > left_s():
            return judged, code
        keep_growth(study_dir, study, goal, grown, seen)
        known = judged.blocks


def _declare(plan: Plan) -> None:
    from quiclab.why.confirm.records import keep_declaration, read_confirmation

    if not (plan.directory / DECLARATION).exists():
        keep_declaration(plan.directory, plan.declared)
    found = read_confirmation(plan.directory)
    if found is None or not found.sound:
        told = f"{plan.directory}: its declaration or its spec is not the one that was kept before the run"
        raise DecodeError(told, "move the folder away, and run the command again: it begins anew")


def _tell(look: int, found: Judged) -> None:
    open_checks = [name for name, state in found.states if state == "open"]
    told = f"look {look}: {found.blocks} blocks, {_TEXTS.get(found.verdict, found.verdict)}"
    print(told + (f"; open: {', '.join(open_checks)}" if open_checks else ""), flush=True)


def _judge_so_far(plan: Plan) -> Judged:
    from quiclab.compare.study_tables import open_study
    from quiclab.study.tables import make_tables
    from quiclab.why.confirm.judge import judge
    from quiclab.why.confirm.records import keep_judgement
    from quiclab.why.confirm.times import times_of

    make_tables(StudyDir(plan.directory))
    places = {role: (place.cell, place.arm) for role, place in plan.declared.places.items()}
    found = judge(plan.declared, times_of(open_study(plan.directory), places, plan.declared.mechanism))
    keep_judgement(plan.directory, plan.declared, found)
    states = tuple((check.name, check.state.value) for check in found.checks)
    return Judged(found.verdict.value, found.final, found.blocks, found.lacking, states)
