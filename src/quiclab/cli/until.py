# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --until 5%`: what the options ask for, and what is said of each look."""

from __future__ import annotations

import re

from quiclab.model.errors import SpecError
from quiclab.model.study import Study
from quiclab.store.layout import StudyDir
from quiclab.study.sequential_run import Goal, look_once

_USUAL_FACTOR = 5
"""Most pairs of a cell without --at-most, as a multiple of the spec's blocks."""


def read_goal(until: str | None, at_most: int | None, study: Study) -> Goal | None:
    """Goal of a sequential run by the options; None of a study whose pairs are fixed. Raises SpecError."""
    if until is None:
        if at_most is not None:
            raise SpecError("--at-most bounds a study that goes on, and this one does not", "add --until 5%")
        return None
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*", until)
    effect = float(found[1]) if found else 0.0
    if not 0 < effect < 100:
        raise SpecError(f"--until {until}: this is not a difference", "write per cent, such as --until 5%")
    if found is None or not found[2]:
        raise SpecError(f"--until {until}: a number without its unit", f"write per cent: --until {until.strip()}%")
    if study.only_blocks:
        raise SpecError("a spec with only_blocks runs these blocks and no others", "leave out --until")
    most = at_most if at_most is not None else _USUAL_FACTOR * study.blocks
    if most < study.blocks:
        raise SpecError(f"--at-most {most}: the spec plans {study.blocks} blocks already", "give a larger number")
    return Goal(effect, most)


def look_at_study(study_dir: StudyDir, study: Study, goal: Goal) -> bool:
    """Look, and say what is decided; whether there is more to run."""
    found = look_once(study_dir, study, goal)
    told = f"interim look {found.number}: {found.pairs} pairs, {found.decided} of {found.comparisons} decided"
    print(told + (f"; open: {', '.join(found.open_cells)}" if found.open_cells else ""), flush=True)
    return found.goes_on
