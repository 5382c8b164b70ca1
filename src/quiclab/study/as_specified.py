# SPDX-License-Identifier: Apache-2.0
"""A study's account of what it ran, held against its spec: the resolved spec, the path of each trial, and the number of
trials and attempts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from quiclab.lab.runner.commands import path_of, workload_of
from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.number_text import counted
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.spec.link import link_config
from quiclab.store.disk import read_object
from quiclab.store.layout import BLOCK_CUT, Attempt, StudyDir
from quiclab.study.differences import Difference, json_differences
from quiclab.study.failed_throughout import voids_its_block
from quiclab.study.specs import refuse_another_spec

_OF_SPEC = ("seed", "link", "up", "down")
"""Members of a link's configuration that follow from the spec alone."""


def link_asked(study: Study, row: PlanRow) -> dict[str, object]:
    """The configuration of the links that the spec gives a trial."""
    path, change = path_of(study, row), workload_of(study, row).address_change
    return link_config(path, row.seed, None if change is None else change.path_after(path))


def link_differences(folder: Path, asked: Mapping[str, Any]) -> list[Difference]:
    """Differences between the path that a trial ran over, by the configuration that its links were given, and that of
    the spec. None of a trial without such a configuration."""
    try:
        told = read_object(folder / "raw" / "link-config.json")
    except DecodeError:
        return []
    kept, wanted = ([each, *each.get("more_links", ())] for each in (told, asked))
    found: list[Difference] = []
    for number, (one, other) in enumerate(zip(kept, wanted, strict=False)):
        for name in _OF_SPEC:
            found += json_differences("raw/link-config.json", one.get(name), other.get(name), f"links.{number}.{name}")
    found += json_differences("raw/link-config.json", len(kept), len(wanted), "links")
    return found


def resolved_differences(study_dir: StudyDir, study: Study) -> list[Difference]:
    """Differences between resolved.json, by which a report names networks and programs, and the study's spec."""
    try:
        refuse_another_spec(study_dir, study)
    except SpecError as error:
        return [Difference("resolved.json", "the spec", each, "as spec.toml has it") for each in error.problems]
    return []


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
    earlier = sum(len({*range(1, number)} - ended[block]) for block, number in latest.items())
    told = []
    if lacking:
        told.append(
            f"{lacking} of {counted(len(planned), 'planned trial')} are missing: they never ran, or were removed."
        )
    if earlier:
        told.append(f"The ledger lacks {counted(earlier, 'attempt')} that the numbers of later ones imply.")
    return told
