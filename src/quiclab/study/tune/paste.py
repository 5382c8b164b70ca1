# SPDX-License-Identifier: Apache-2.0
"""A setting as lines to paste: the `[[arm]]` of a spec, and what the programs' own configuration has for it."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from quiclab.spec.toml_text import toml_text
from quiclab.study.confirm.own_words import words_between
from quiclab.study.specs import load_study
from quiclab.study.tune.candidates import Candidate
from quiclab.study.tune.result import AS_IT_IS, TUNED, ProgramLines
from quiclab.study.tune.tuning_plan import TuningPlan


def arm_table(plan: TuningPlan, spec: str) -> str:
    """The arm with the setting, under its own name, as the spec of the fresh blocks has it.

    Settings of TCP that an arm over HTTP/3 took from another one are left out: they change nothing in it, and it takes
    them again.
    """
    arm = plan.cell.arm
    found = next(each for each in tomllib.loads(spec)["arm"] if each["name"] == TUNED)
    own = next(each for each in plan.cell.document["arm"] if each["name"] == arm.name)
    lent = {"tcp"} if arm.protocol == "h3" and "tcp" not in own else set()
    return toml_text({"arm": [{key: found[key] for key in found if key not in lent} | {"name": arm.name}]})


def program_lines(plan: TuningPlan, spec: str, chosen: Sequence[Candidate]) -> tuple[ProgramLines, ...]:
    """Lines that the programs, and Linux, have for the setting and not for the arm as it is: taken from what the
    endpoints write for both arms."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "spec.toml")
        file.write_text(spec, encoding="utf-8")
        study = load_study(file)
    arms = {arm.name: arm for arm in study.arms}
    changes = [change for each in chosen for change in each.changes]
    words = words_between(arms[AS_IT_IS], arms[TUNED], plan.cell.workload, changes)
    return tuple(ProgramLines(each.program, each.lines, each.is_ours) for each in words)
