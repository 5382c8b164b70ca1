# SPDX-License-Identifier: Apache-2.0
"""The plan of a run without two or three causes, in all combinations, and a look at it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.study import Study
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.layout import StudyDir
from quiclab.study.confirm.confirming_run import Judged
from quiclab.study.confirm.plan import Asked, arms_of, cell_of, cell_with, is_free, new_seed
from quiclab.why.confirm.declaration import REPLAY, WITHOUT, TrialPlace
from quiclab.why.confirm.joint_records import DECLARATION, RESULT

if TYPE_CHECKING:
    from quiclab.spec.counterfactual import Change
    from quiclab.study.confirm.variants import Cell
    from quiclab.why.confirm.factorial import Together
    from quiclab.why.confirm.joint_declaration import DeclaredTogether, Removed
    from quiclab.why.confirm.predict import Suspect

_MOST_CAUSES = 3


@dataclass(frozen=True)
class PlanTogether:
    """Everything about a run without several causes before it begins."""

    directory: Path
    begun: bool
    """True if it has been declared before, and goes on."""
    declared: DeclaredTogether
    spec: str
    least_blocks: int
    blocks_needed: int | None
    """Blocks after which a part that is nothing is expected to be told; None where that is hundreds."""
    block_ms: float

    @property
    def effect_pct(self) -> float:
        """The least tolerance as a share of the whole time, in per cent."""
        return 100 * min(self.declared.tolerance_ms.values()) / self.declared.total_ms


def plan_together(asked: Asked, causes: Sequence[str], study: Study) -> PlanTogether:
    """Plan it, without writing anything.

    Raises SpecError for causes that one arm does not have all of, and where no setting takes one of them away.
    """
    from quiclab.compare.study_tables import open_study
    from quiclab.study.confirm.choice import refuse_unknown
    from quiclab.why.confirm.joint_declaration import DeclaredTogether, combinations_of, joined
    from quiclab.why.confirm.predict import (
        blocks_needed,
        cell_times,
        least_blocks,
        suspect_named,
        suspects,
        tolerance_of,
    )

    if not 2 <= len(set(causes)) <= _MOST_CAUSES:
        raise SpecError(f"{len(set(causes))} causes together", f"give --cause two or {_MOST_CAUSES} times")
    refuse_unknown(causes)
    opened, names = open_study(asked.study), cell_of(study, asked.cell)
    arms = arms_of(study, asked)
    shown = suspects(opened, asked.cell, arms, study.alpha)
    found = {cause: suspect_named(shown, cause, asked.cell) for cause in sorted(set(causes))}
    first = next(iter(found.values()))
    _refuse_others(found.values())
    cell = cell_with(study, asked.study, names, first)
    changes = {cause: _possible(cell, cause) for cause in found}
    folder = f"{asked.cell.replace('/', '-')}-{'+'.join(found)}"
    times = cell_times(opened, asked.cell, arms)
    number = 1
    while True:
        directory = asked.study.resolve() / "confirm" / f"{folder}-{number}"
        spec, seed = _spec(cell, changes, directory, study.alpha)
        declared = DeclaredTogether(
            study=study.name,
            cell=asked.cell,
            arm=first.arm,
            alpha=study.alpha,
            seed=seed,
            total_ms=times.total_ms[first.arm],
            settings={cause: (change.table, change.key, change.value) for cause, change in changes.items()},
            predicted={cause: each.share for cause, each in found.items()},
            tolerance_ms={cause: tolerance_of(each.share) for cause, each in found.items()},
            places={joined(gone): TrialPlace(asked.cell, _arm(changes, gone)) for gone in combinations_of(list(found))},
            spec_sha256=hashlib.sha256(spec.encode()).hexdigest(),
        )
        if (is_new := is_free(directory, DECLARATION)) or _is_open(directory, declared):
            block_ms = 2 ** len(found) * (times.overhead_ms + declared.total_ms)
            least = least_blocks(study.alpha)
            needed = blocks_needed(times.noise_ms[first.arm], min(declared.tolerance_ms.values()), study.alpha)
            return PlanTogether(directory, not is_new, declared, spec, least, needed, block_ms)
        number += 1


def beside(asked: Asked, study: Study, cause: str) -> str | None:
    """The largest other cause of the same arm that can be taken away together with one; None where there is none."""
    from quiclab.compare.study_tables import open_study
    from quiclab.why.confirm.predict import suspect_named, suspects
    from quiclab.why.mechanisms import BY_NAME

    names, arms = cell_of(study, asked.cell), arms_of(study, asked)
    shown = [each for each in suspects(open_study(asked.study), asked.cell, arms, study.alpha) if each.cause in BY_NAME]
    first = suspect_named(shown, cause, asked.cell)
    cell = cell_with(study, asked.study, names, first)
    others = [each.cause for each in shown if each.arm == first.arm and each.share.ms > 0 and each.cause != cause]
    return next((other for other in others if _is_possible(cell, cause, other)), None)


def _is_possible(cell: Cell, *causes: str) -> bool:
    """True if each of these can be taken away together with others, by a setting of its own."""
    try:
        changes = [_possible(cell, cause) for cause in causes]
    except SpecError:
        return False
    return len({(change.table, change.key) for change in changes}) == len(changes)


def _refuse_others(found: Iterable[Suspect]) -> None:
    first, *others = found
    for each in others:
        if each.arm != first.arm:
            told = f"{first.cause} is of {first.arm}, and {each.cause} of {each.arm}"
            raise SpecError(told, "causes that are taken away together must be of one arm")


def _possible(cell: Cell, cause: str) -> Change:
    """The first setting that takes a cause away in an arm. Raises SpecError where there is none."""
    from quiclab.study.confirm.variants import variants
    from quiclab.why.mechanisms import BY_NAME

    why_not = []
    own = {"name": "possible", "seed": 0, "blocks": 1, "baseline": REPLAY}
    for setting in BY_NAME[cause].settings:
        try:
            if setting.table == "path":
                raise SpecError("a setting of the path is shared by all arms: confirm this cause by itself")
            return variants(cell, setting, own).change
        except SpecError as error:
            why_not.append(f"{cause}: {setting.table}.{setting.key}: {error.message}")
    raise SpecError(f"{cause} cannot be taken away together with others", "leave it out", tuple(why_not))


def _arm(changes: Mapping[str, Change], gone: Removed) -> str:
    """Name of the arm without some causes: `without-12` is without the first and the second."""
    numbers = "".join(str(number) for number, cause in enumerate(changes, start=1) if cause in gone)
    return f"{WITHOUT}-{numbers}" if gone else REPLAY


def _spec(cell: Cell, changes: Mapping[str, Change], directory: Path, alpha: float) -> tuple[str, int]:
    """The spec's text, and its seed. Raises SpecError for settings that cannot be combined."""
    from quiclab.spec.counterfactual import PathVariant, Variant
    from quiclab.study.confirm.variants import read_back, refuse_what_cannot_run
    from quiclab.why.confirm.joint_declaration import combinations_of
    from quiclab.why.confirm.predict import least_blocks

    seed = new_seed(cell, directory)
    own = {
        "name": f"{cell.study.name[:40]}-together",
        "question": f"How much of {cell.name} in {cell.arm.name} is which cause's?",
        "seed": seed,
        "blocks": least_blocks(alpha),
        "baseline": REPLAY,
        "alpha": alpha,
        "captures": cell.study.captures,
    }
    arms = [
        Variant(_arm(changes, gone), cell.arm.name, tuple(changes[cause] for cause in sorted(gone)))
        for gone in combinations_of(list(changes))
    ]
    spec, study = read_back(cell, arms, [PathVariant(cell.path)], own)
    refuse_what_cannot_run(study, cell.workload.name)
    return spec, seed


def _is_open(directory: Path, declared: DeclaredTogether) -> bool:
    """True if a run was declared in just this way, and its result is not final."""
    try:
        kept = read_object(directory / DECLARATION)
        shown = read_object(directory / RESULT) if (directory / RESULT).exists() else {}
    except (DecodeError, OSError):
        return False
    return kept.get("sha256") == declared.sha256 and not shown.get("final")


def declare_together(plan: PlanTogether) -> None:
    """Write the declaration with its hash, before anything runs."""
    declared = plan.declared
    content = {"version": 1, "sha256": declared.sha256, "declared": declared.document()}
    if not (plan.directory / DECLARATION).exists():
        write_atomically(plan.directory / DECLARATION, json.dumps(content, indent=1, ensure_ascii=False))


def found_together(plan: PlanTogether) -> Together:
    """Share out what there is so far."""
    from quiclab.compare.study_tables import open_study
    from quiclab.why.confirm.factorial import judge_together
    from quiclab.why.confirm.times import times_of

    opened, declared = open_study(plan.directory), plan.declared
    places = {name: (place.cell, place.arm) for name, place in declared.places.items()}
    return judge_together(declared, {cause: times_of(opened, places, cause) for cause in declared.predicted})


def look_together(plan: PlanTogether) -> Judged:
    """Share out what there is so far, and keep it."""
    from quiclab.report.words.together import document
    from quiclab.study.tables import make_tables

    make_tables(StudyDir(plan.directory))
    found, declared = found_together(plan), plan.declared
    content = {"version": 1, "sha256": declared.sha256, "final": found.final, **document(declared, found)}
    write_atomically(plan.directory / RESULT, json.dumps(content, indent=1, ensure_ascii=False))
    states = tuple((part.cause, "holds" if part.decided else "open") for part in found.parts)
    return Judged("decided" if found.final else "undecided", found.final, found.blocks, 0, states)
