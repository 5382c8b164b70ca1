# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --until 5%`: look after each batch, and plan more blocks of the cells that are not decided yet."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.cli.trouble import code_of
from quiclab.errors import ExitCode, SpecError
from quiclab.spec.model import Study
from quiclab.store.layout import StudyDir, disk_errors, write_atomically
from quiclab.testbed._libc import die_with_parent

FILE = "sequential.json"
_USUAL_FACTOR = 5
"""Pairs of a cell at most, in blocks of the spec, where nothing is said."""
_GROWTH = 0.25
"""By how much of its blocks an open cell grows between two looks."""
_LEAST_GROWTH = 2


@dataclass(frozen=True)
class Goal:
    """When to stop."""

    effect_pct: float
    at_most: int


def read_goal(until: str | None, at_most: int | None, study: Study) -> Goal | None:
    """What the options ask for; None of a study whose pairs are fixed. Raises SpecError."""
    if until is None:
        if at_most is not None:
            raise SpecError("--at-most bounds a study that goes on, and this one does not", "add --until 5%")
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%?\s*", until)
    effect = float(found[1]) if found else 0.0
    if not 0 < effect < 100:
        raise SpecError(f"--until {until}: this is no difference", "write per cent, such as --until 5%")
    if study.only_blocks:
        raise SpecError("a spec with only_blocks runs these blocks and no others", "leave --until away")
    most = at_most if at_most is not None else _USUAL_FACTOR * study.blocks
    if most < study.blocks:
        raise SpecError(f"--at-most {most}: the spec plans {study.blocks} blocks already", "write more")
    return Goal(effect, most)


def planned_blocks(study_dir: StudyDir) -> dict[str, int]:
    """Cell → blocks, as far as the study has grown."""
    blocks: dict[str, int] = _read(study_dir).get("blocks", {})
    return blocks


def look(study_dir: StudyDir, study: Study, goal: Goal) -> bool:
    """Decode and test what there is, and plan more where it is open; whether there is more to run.

    In a process of its own, for this one must stay without threads: it enters the sandbox again.
    """
    before = planned_blocks(study_dir)
    code = _in_child(lambda: _look(study_dir, study, goal))
    if code != ExitCode.OK:
        sys.exit(code)
    return planned_blocks(study_dir) != before


def _look(study_dir: StudyDir, study: Study, goal: Goal) -> int:

    from quiclab.analysis.sequential import OPEN, state
    from quiclab.cli.analyse import make_tables
    from quiclab.cli.console import VisibleConsole
    from quiclab.report import analyse_study

    console = VisibleConsole()
    document = _read(study_dir)
    looks: list[dict[str, Any]] = document.get("looks", [])
    blocks: dict[str, int] = document.get("blocks", {})

    def write() -> None:
        content = {
            "version": 1,
            "effect_pct": goal.effect_pct,
            "at_most": goal.at_most,
            "alpha": study.alpha,
            "blocks": blocks,
            "looks": looks,
        }
        write_atomically(study_dir.root / FILE, json.dumps(content, indent=1))

    make_tables(study_dir, console)
    write()  # that this study is a sequential one is known before its first look
    with disk_errors(study_dir.root):
        comparisons = analyse_study(study_dir.root).comparisons
    states = {f"{each.cell_id} {each.other.arm}": state(each, goal.effect_pct) for each in comparisons}
    looks.append(
        {
            "pairs": {f"{each.cell_id} {each.other.arm}": each.pairs for each in comparisons},
            "states": states,
        }
    )
    still_open = {each.cell_id for each in comparisons if state(each, goal.effect_pct) == OPEN}
    blocks.update(more_blocks(still_open, blocks, study.blocks, goal.at_most))
    write()
    decided = sum(each != OPEN for each in states.values())
    told = f"look {len(looks)}: {sum(each.pairs for each in comparisons)} pairs, {decided} of {len(states)} decided"
    open_words = f"; open: {', '.join(sorted(still_open))}" if still_open else ""
    console.print(told + open_words, highlight=False, markup=False)
    return ExitCode.OK


def more_blocks(still_open: set[str], blocks: Mapping[str, int], planned: int, at_most: int) -> dict[str, int]:
    """Cell → blocks of those that are open: a quarter more each, at least two, up to the bound."""
    grown = {}
    for cell in still_open:
        now = max(planned, blocks.get(cell, 0))
        grown[cell] = min(at_most, now + max(_LEAST_GROWTH, math.ceil(_GROWTH * now)))
    return grown


def _read(study_dir: StudyDir) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads((study_dir.root / FILE).read_text())
    except (OSError, ValueError):
        return {}
    return document


def _in_child(work: Callable[[], int]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    caller = os.getpid()
    pid = os.fork()
    if pid == 0:
        # The stack below is a copy of the caller's: nothing of it may run here.
        code: int = ExitCode.CRASH
        try:
            die_with_parent(signal.SIGKILL)
            if os.getppid() == caller:  # it may have gone before that call
                code = code_of(work)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else ExitCode.CRASH
