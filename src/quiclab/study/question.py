# SPDX-License-Identifier: Apache-2.0
"""A question of one line as a study: its spec, as text, and its place.

A question has one workload, one path and two arms. It begins with as many pairs as can decide anything, and goes on
until it is decided or its time is over.
"""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from quiclab.lab.endpoints.senders import senders_of
from quiclab.model.errors import SpecError
from quiclab.model.study import Study, Workload
from quiclab.plan.size import plan_size
from quiclab.plan.slow_paths import slow_warnings
from quiclab.spec.toml_text import Toml, toml_text
from quiclab.study.contenders import Build, Contender, Contenders, ProgramChoice, contenders

LEAST_PAIRS = 6
"""Pairs that the spec plans: the fewest with which the sequential test can show a difference (p .044 at best, if all
have one sign)."""
MOST_PAIRS = 400
"""Pairs at which a question ends, whatever its time."""
_REPORT_S = 15
"""Time of a short question's report."""
_SEED = 1
_DISTURBANCE = "3 %"
"""Share of its time that the machine may add to a trial of a question. Servers of QUIC with many threads wait for one
another where there are two processors; what they wait widens the interval, and an answer with a wider interval is
better than none."""
_HEADER = "# Written by `quiclab ask`. docs/reference/spec.md describes every key.\n"
_LONGEST_NAME = 64
_FOLDER = Path("studies")


@dataclass(frozen=True)
class Question:
    """A question as tables of a spec."""

    asked: Workload
    """The workload as it is read from its table."""
    workload: Toml
    path: Toml

    @property
    def name(self) -> str:
        """Name of its study: `ask-300KB-40ms`."""
        return usable_name(f"ask-{self.workload['name']}-{self.path['name']}")

    @property
    def sentence(self) -> str:
        """The question in a sentence."""
        return f"{self.workload_text} over {self.path['title']}: is HTTP/3 faster or slower than HTTP/2?"

    @property
    def workload_text(self) -> str:
        """The workload for readers: `20 objects of 300 KB`."""
        table = self.workload
        if "page" in table:
            return f"The page of {Path(table['page']['har']).name}"
        number = table.get("count", 1)
        what = f"{number} objects of {table['size']}" if number > 1 else f"An object of {table['size']}"
        return f"{what}, uploaded," if table.get("direction") == "upload" else what

    def spec(self, arms: Contenders, name: str) -> str:
        """Text of the spec of a study of this name."""
        study = {"name": name, "question": self.sentence, "seed": _SEED, "blocks": LEAST_PAIRS}
        document = {
            "study": study,
            "limits": {"disturbance": _DISTURBANCE},
            "workload": [dict(self.workload)],
            "path": [dict(self.path)],
            "arm": [_arm_table(arms.h2), _arm_table(arms.h3)],
        }
        return f"{_HEADER}\n{toml_text(document)}"


def with_programs(question: Question, h2: ProgramChoice, h3: ProgramChoice) -> tuple[Question, Contenders]:
    """Return the question and the arms that can run it: where a server that was named cannot wait before it answers, as
    the servers of a page did, it does not. Raises SpecError and HostError as `contenders` does."""
    try:
        return question, contenders(question.asked, h2, h3)
    except SpecError:
        page = question.asked.page
        if page is None or page.think == "none":
            raise
        asked = dataclasses.replace(question.asked, page=dataclasses.replace(page, think="none"))
        table = {**question.workload, "page": {**question.workload["page"], "think": "none"}}
        return Question(asked, table, question.path), contenders(asked, h2, h3)


def usable_name(text: str) -> str:
    """Return a text as a name that a spec, a folder and a shell take."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:_LONGEST_NAME] or "ask"


def new_folder(name: str) -> Path:
    """Return a folder for a study of this name that is not there yet: with a number behind it where one is."""
    return next(
        place
        for number in count(1)
        if not (place := _FOLDER / (name if number == 1 else f"{name[: _LONGEST_NAME - 5]}-{number}")).exists()
    )


def refuse_too_long(study: Study, minutes: float) -> None:
    """Raise SpecError where no trial can end, or the fewest pairs that decide anything are expected to take longer."""
    if told := slow_warnings(study):
        raise SpecError(
            "no trial of this question can end in time", "ask for less, or give a higher --rate", tuple(told)
        )
    expected_s = plan_size(study).expected(study, senders_of(study)).s
    if expected_s > seconds_for_trials(minutes):
        raise SpecError(
            f"--minutes {minutes:g} is too few: {study.blocks} pairs are the least that decide anything, and take "
            f"about {expected_s:.0f} s",
            f"give --minutes {max(1, math.ceil(2 * expected_s / 60))} or more, or ask about less",
        )


def seconds_for_trials(minutes: float) -> float:
    """Return the time of a question's minutes in which trials run: looks and report take about the rest."""
    whole_s = 60 * minutes
    return max(whole_s / 2, min(whole_s * 5 / 6, whole_s - _REPORT_S))


def arm_text(found: Contender) -> str:
    """Return an arm for readers: programs with their versions, congestion control, initial window."""
    ends = f"{_build_text(found.client)} from {_build_text(found.server)}"
    return f"{ends}; {found.sender_text}"


def _build_text(build: Build) -> str:
    return f"{build.name} {build.version.partition(' ')[0]}"


def _arm_table(found: Contender) -> Toml:
    arm = found.arm
    table: Toml = {"name": arm.name, "protocol": arm.protocol}
    for role, program, _ in arm.programs():
        knobs = {key: getattr(program.knobs, key) for key in program.knobs.asked()}
        more = {**({} if program.prefix is None else {"prefix": program.prefix}), **knobs}
        table[role] = {"name": program.name, **more} if more else program.name
    if arm.protocol != "h3":
        tcp = dataclasses.asdict(arm.tcp)
        table["tcp"] = {key: tcp[key] for key in ("congestion_control", "initial_window")}
    return table
