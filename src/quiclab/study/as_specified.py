# SPDX-License-Identifier: Apache-2.0
"""A study's account of what it ran, held against its spec: the resolved spec, each trial's path and all else that it
was asked for, the number of trials and attempts, and how far it grew."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import isclose
from pathlib import Path
from typing import Any

from quiclab.lab.runner.commands import path_of, workload_of
from quiclab.lab.runner.document import asked_of, own_server_members
from quiclab.lab.testbed.link import links_of
from quiclab.model.errors import DecodeError, QuiclabError
from quiclab.model.number_text import counted
from quiclab.model.plan_row import PlanRow
from quiclab.model.sequential_record import SequentialGrowth
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.spec.defaults import with_defaults
from quiclab.spec.link import link_config
from quiclab.spec.resolved import resolved_json
from quiclab.store.disk import read_object
from quiclab.store.growth import read_growth
from quiclab.store.identity import essence_of
from quiclab.store.layout import BLOCK_CUT, SEQUENTIAL, TOLERATED, Attempt, StudyDir
from quiclab.store.look_records import FILE, read_looks
from quiclab.store.own_files import is_own_file
from quiclab.study.differences import Difference, json_differences, short_text
from quiclab.study.failed_throughout import voids_its_block
from quiclab.study.limits import EARLIER, tolerated_by
from quiclab.study.sequential_run import more_blocks
from quiclab.study.specs import form_errors, load_study
from quiclab.study.stored_twice import content_asked

SPEC = "the spec"
"""Source of what a trial was to be."""
_BY_NAME = ("workloads", "paths", "arms")
"""Members of a resolved spec that are lists of tables, each with its name."""
_OF_SPEC = ("seed", "link", "up", "down")
"""Members of a link's configuration that follow from the spec alone."""


def link_asked(study: Study, row: PlanRow) -> dict[str, object]:
    """The configuration of the links that the spec gives a trial."""
    path, change = path_of(study, row), workload_of(study, row).address_change
    return link_config(path, row.seed, None if change is None else change.path_after(path))


def link_differences(folder: Path, asked: Mapping[str, object]) -> list[Difference]:
    """Differences between the path that a trial ran over, by the configuration that its links were given, and that of
    the spec. None of a trial without such a configuration."""
    try:
        told = read_object(folder / "raw" / "link-config.json")
    except DecodeError:
        return []
    kept, wanted = links_of(told), links_of(asked)
    found: list[Difference] = []
    for number, (one, other) in enumerate(zip(kept, wanted, strict=False)):
        for name in _OF_SPEC:
            found += json_differences(
                "raw/link-config.json", one.get(name), other.get(name), f"links.{number}.{name}", SPEC
            )
    found += json_differences("raw/link-config.json", len(kept), len(wanted), "links", SPEC)
    return found


def resolved_differences(study_dir: StudyDir, study: Study) -> list[Difference]:
    """Differences between resolved.json, by which a report names networks, programs and the level of its tests, and the
    study's spec."""
    if not study_dir.resolved.exists():
        return []
    with form_errors(study_dir.resolved):
        kept = with_defaults(read_object(study_dir.resolved))
        asked = json.loads(json.dumps(resolved_json(study)))
        found: list[Difference] = []
        for name in sorted(asked):
            one, other = kept.get(name), asked[name]
            if name in _BY_NAME:
                one, other = _by_name(one), _by_name(other)
            found += json_differences("resolved.json", one, other, name, SPEC)
    return found


def _by_name(tables: Any) -> dict[str, object]:
    """Tables of a resolved spec by their names; none where there is no list."""
    return {each["name"]: essence_of(each) for each in tables or ()}


def tolerances(study_dir: StudyDir, study: Study) -> list[float]:
    """Shares that the laboratory may have added by the limits of a study: those of its spec, and those that it had in
    earlier runs."""
    kept = read_object(study_dir.resolved) if study_dir.resolved.exists() else {}
    return [each.value for each in (study.tolerated, *(tolerated_by(one, study) for one in kept.get(EARLIER) or []))]


def asked_members(study: Study, row: PlanRow) -> dict[str, object]:
    """The members of a trial.json that the spec gives a trial."""
    asked: dict[str, object] = json.loads(json.dumps({**asked_of(study, row), **own_server_members(study, row)}))
    return asked


def asked_differences(
    document: Mapping[str, object], asked: Mapping[str, object], tolerated: Sequence[float]
) -> list[Difference]:
    """Differences between a trial.json and the members that the spec gives it; it may have been judged by any of the
    shares `tolerated`. Nothing of a probe's trial, whose servers are of others."""
    if document.get("probe"):
        return []
    found: list[Difference] = []
    for name in sorted(asked.keys() - {TOLERATED}):
        found += json_differences("trial.json", document.get(name), asked[name], name, by=SPEC)
    kept = document.get(TOLERATED)
    if not (isinstance(kept, int | float) and any(isclose(kept, each) for each in tolerated)):
        each = " or ".join(short_text(each) for each in dict.fromkeys(tolerated))
        found.append(Difference("trial.json", TOLERATED, short_text(kept), each, SPEC))
    return found


def what_lacks(
    planned: Collection[str], attempts: Mapping[str, Sequence[Attempt]], block_of: Callable[[str], object]
) -> list[str]:
    """Sentences about planned trials and about attempts that are not there: trials may have been taken out. An attempt
    at a block ends with its first void trial, or is cut short: each but the last has one, and perhaps not all."""
    lacking = len([trial_id for trial_id in planned if trial_id not in attempts])
    latest: dict[object, int] = {}
    ended: dict[object, set[int]] = {}
    for trial_id, tries in attempts.items():
        block = block_of(trial_id)
        latest[block] = max([latest.get(block, 0), *(each.attempt for each in tries)])
        ended.setdefault(block, set()).update(
            each.attempt for each in tries if voids_its_block(each) or each.reason == BLOCK_CUT
        )
    earlier = sum(number - 1 - sum(0 < each < number for each in ended[block]) for block, number in latest.items())
    told = []
    if lacking:
        told.append(
            f"{lacking} of {counted(len(planned), 'planned trial')} are missing: they never ran, or were removed."
        )
    if earlier:
        told.append(f"The ledger lacks {counted(earlier, 'attempt')} that the numbers of later ones imply.")
    return told


def growth_differences(study_dir: StudyDir, study: Study) -> list[Difference]:
    """Differences between sequential.json and the spec; none of a study whose number of blocks was fixed."""
    kept = _growth(study_dir)
    if kept is None or kept.alpha is None:
        return []
    return [*json_differences(SEQUENTIAL, kept.alpha, study.alpha, "alpha", SPEC)]


def _growth(study_dir: StudyDir) -> SequentialGrowth | None:
    """Growth of a study; None also where its file cannot be read, which `doubts_by_growth` tells."""
    with suppress(DecodeError):
        return read_growth(study_dir.root)
    return None


def doubts_by_growth(study_dir: StudyDir, study: Study, run: Mapping[str, int]) -> list[str]:
    """Sentences about a sequential.json that does not fit the rest of the study. `run` is cell → blocks that the ledger
    has of it."""
    kept = _growth(study_dir)
    grown = {cell: blocks for cell, blocks in run.items() if blocks > study.blocks}
    told = []
    if kept is None and (study_dir.root / SEQUENTIAL).exists():
        told.append(f"{SEQUENTIAL} cannot be read: the rule by which the study stopped is not known.")
    for cell, blocks in sorted(grown.items()):
        known = study.blocks if kept is None else max(study.blocks, kept.blocks.get(cell, 0))
        if blocks > known:
            told.append(
                f"The ledger has {blocks} blocks of {cell}, and the plan {known}: {SEQUENTIAL}, which says how far a "
                "study grew, is missing or was changed."
            )
    if kept is None:
        return told
    # A history of releases plans blocks for each pair that it asks about, not by a share of what there is.
    by_looks = {cell: blocks for cell, blocks in kept.blocks.items() if cell not in kept.arms}
    least = max((_looks_before(study, cell, blocks, kept.at_most) for cell, blocks in by_looks.items()), default=0)
    if len(kept.looks) < least:
        told.append(
            f"{SEQUENTIAL} has {counted(len(kept.looks), 'look')}, and a study grows so far after "
            f"{counted(least, 'look')} or more: some were removed."
        )
    sizes = {look.matters_pct for look in read_looks(study_dir.root)} - {None}
    if sizes and float(kept.effect_pct) not in sizes:
        said = " or ".join(f"{each:g} %" for each in sorted(each for each in sizes if each is not None))
        told.append(
            f"{SEQUENTIAL} says that a difference matters from {kept.effect_pct:g} % on, and {FILE} that it did from "
            f"{said} on when the result was seen."
        )
    return told


def _looks_before(study: Study, cell: str, blocks: int, at_most: int) -> int:
    """Fewest looks after which a cell has so many blocks: each makes it grow once."""
    looks, now = 0, dict[str, int]()
    while max(study.blocks, now.get(cell, 0)) < min(blocks, at_most):
        looks, now = looks + 1, more_blocks({cell}, now, study.blocks, at_most)
    return looks


@dataclass(frozen=True)
class AskedOfTrial:
    """Everything that a study's spec says of one trial; nothing of one that it does not plan."""

    is_readable: bool
    """True if the spec could be read and planned."""
    row: Mapping[str, object] | None
    """Row of the plan."""
    links: Mapping[str, object] | None
    """Configuration of the links."""
    members: Mapping[str, object] | None
    """Members of its trial.json."""
    content: Mapping[str, object] | None
    """The member `expected` of its trial.json, as far as the spec tells it."""
    tolerated: Sequence[float]
    """Shares that the laboratory may have added by the limits, today's first."""


@dataclass(frozen=True)
class AskedOfStudy:
    """Everything that a study's spec says of its trials, by their ids."""

    rows: Mapping[str, Mapping[str, object]]
    """Rows of the plan."""
    links: Mapping[str, Mapping[str, object]]
    """Configurations of the links."""
    members: Mapping[str, Mapping[str, object]]
    """Members of each trial.json."""
    content: Mapping[str, Mapping[str, object] | None]
    """The member `expected` of each trial.json, as far as the spec tells it."""
    tolerated: Sequence[float] = ()
    """Shares that the laboratory may have added by the limits, today's first."""
    differences: tuple[Difference, ...] = ()
    """Differences between the spec and resolved.json."""
    doubts: tuple[str, ...] = ()
    """Sentences about a growth of the study that does not fit the rest of it."""
    problem: str = ""
    """Sentence about why the spec says nothing; empty where it does."""

    def about_trial(self, trial_id: str) -> AskedOfTrial:
        """The part about one trial, which goes to another process."""
        row, links, members = (each.get(trial_id) for each in (self.rows, self.links, self.members))
        content = self.content.get(trial_id)
        return AskedOfTrial(not self.problem, row, links, members, content, self.tolerated)


def planned_again(study_dir: StudyDir, run: Mapping[str, int]) -> AskedOfStudy:
    """Read the spec of a study, and plan it again, with at least the blocks that were `run` (cell → blocks)."""
    if not is_own_file(study_dir.spec, study_dir.root):
        return AskedOfStudy(
            {}, {}, {}, {}, problem="There is no spec.toml: the trials could not be compared with a plan."
        )
    try:
        study = load_study(study_dir.spec)
        kept = _growth(study_dir)
        rows = grow_plan(study, Counter(run) | Counter(kept.blocks if kept else {}), kept.arms if kept else {})
        differences = [*resolved_differences(study_dir, study), *growth_differences(study_dir, study)]
        tolerated, doubts = tolerances(study_dir, study), doubts_by_growth(study_dir, study, run)
    except QuiclabError as error:
        told = "; ".join((error.message.rstrip("."), *error.problems))
        return AskedOfStudy({}, {}, {}, {}, problem=f"The trials could not be compared with spec.toml ({told}).")
    content = {each.name: content_asked(study, each) for each in study.workloads}
    return AskedOfStudy(
        {row.trial_id: json.loads(json.dumps(asdict(row))) for row in rows},
        {row.trial_id: link_asked(study, row) for row in rows},
        {row.trial_id: asked_members(study, row) for row in rows},
        {row.trial_id: content[row.workload] for row in rows},
        tolerated,
        tuple(differences),
        tuple(doubts),
    )
