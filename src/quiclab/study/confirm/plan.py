# SPDX-License-Identifier: Apache-2.0
"""The plan of a confirming run: which cause, by which setting, what is predicted, and how long it takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.errors import SpecError, nearest
from quiclab.model.mechanism_names import names_of
from quiclab.model.number_text import listed
from quiclab.model.study import Study
from quiclab.spec.two_builds import Build
from quiclab.store.layout import DECLARATION, StudyDir

if TYPE_CHECKING:
    from quiclab.compare.study_tables import OpenedStudy
    from quiclab.study.confirm.choice import Tried
    from quiclab.study.confirm.variants import Cell, Variants
    from quiclab.why.confirm.declaration import Declared
    from quiclab.why.confirm.predict import CellTimes, Following, Suspect
    from quiclab.why.confirm.records import Confirmation
    from quiclab.why.mechanisms import Mechanism, Setting


@dataclass(frozen=True)
class Asked:
    """Request of a user."""

    study: Path
    cell: str
    cause: str | None = None
    """Name of the mechanism; None takes the largest that is shown to cost the slower arm time, and that a setting takes
    away."""
    arm: str | None = None
    """The arm that is compared with the baseline, where there are several."""
    baseline: str | None = None
    """The arm that others are compared with; None takes the spec's baseline."""


@dataclass(frozen=True)
class Plan:
    """Everything about a confirming run before it begins."""

    directory: Path
    """Directory in which the confirming study is, or goes on."""
    begun: bool
    """True if it has been declared before, and goes on."""
    declared: Declared
    spec: str
    title: str
    """Name of the mechanism for readers."""
    gain: str
    """Purpose of the setting, as a sentence."""
    also_changes: tuple[str, ...]
    own_words: tuple[str, ...]
    """The setting as the program's own configuration or command line has it."""
    not_possible: tuple[str, ...]
    """Other settings of the mechanism that come first and are not possible here, with the reason."""
    passed_over: tuple[str, ...]
    """Runs of the same cause that do not go on, as something of them was changed or is damaged."""
    least_blocks: int
    """Fewest blocks that decide anything."""
    blocks_needed: int | None
    """Blocks after which the sham and a total that stays are expected to be told; None where that is hundreds."""
    block_ms: float
    """Time that a block is expected to take."""
    stays: str = ""
    """Clause about losses of the path that the setting leaves; "" where it leaves none."""

    @property
    def effect_pct(self) -> float:
        """The tolerance as a share of the whole time, in per cent: what `--until` calls the effect."""
        return 100 * self.declared.tolerance_ms / self.declared.total_ms


def plan_confirmation(asked: Asked, study: Study) -> Plan:
    """Plan it, without writing anything. `study` is the spec of the study directory.

    Raises SpecError for another cell or cause, and where no setting takes the mechanism away here; DecodeError for
    tables that do not name mechanisms.
    """
    from quiclab.compare.study_tables import open_study
    from quiclab.study.confirm.choice import refuse_unknown
    from quiclab.why.confirm.predict import cell_times, following, suspect_named, suspects
    from quiclab.why.mechanisms import BY_NAME

    opened = open_study(asked.study)
    names = cell_of(study, asked.cell)
    arms = arms_of(study, asked)
    times = cell_times(opened, asked.cell, arms)
    found = [each for each in suspects(opened, asked.cell, arms, study.alpha) if each.cause in BY_NAME]
    refused: list[str] = []
    if asked.cause is not None:
        refuse_unknown([asked.cause])
        found = [suspect_named(found, asked.cause, asked.cell)]
    else:
        found, refused = _shown_suspects(opened, asked, arms, study.alpha, found)
    of_cell = _OfCell(opened, asked, study, names, times, following(opened, asked.cell, arms, study.alpha))
    for suspect in found:
        planned = of_cell.plan(suspect)
        if isinstance(planned, Plan):
            return planned
        refused.append(planned)
    raise SpecError(
        f"no cause of {asked.cell} can be put to the test",
        "run more blocks, or give the arms programs with a knob for it (docs/reference/endpoints.md); --cause puts one "
        "to the test that the pairs do not show",
        tuple(refused) or ("its trials show no mechanism",),
    )


def _shown_suspects(
    opened: OpenedStudy, asked: Asked, arms: tuple[str, str], alpha: float, found: Sequence[Suspect]
) -> tuple[list[Suspect], list[str]]:
    """The mechanisms that the cell's pairs, or its records by themselves, show to cost the slower arm time. Raises
    SpecError where they show none."""
    from quiclab.compare.comparison_words import least_pairs_words
    from quiclab.compare.statistics import smallest_p
    from quiclab.study.confirm.choice import shown_of_slower
    from quiclab.why.cause_parts import known_of
    from quiclab.why.causes import verdicts_of
    from quiclab.why.confirm.times import pairs_in

    known = known_of(opened, "ttlb_ms")
    pairs = (
        [] if known is None else [pair for pair in pairs_in(opened, asked.cell, arms) if set(pair) <= known.ms.keys()]
    )
    judged = () if known is None else verdicts_of(known, pairs, alpha)
    if known is not None and any(each.status.found for each in judged):
        whole_ms = [sum(sum(known.ms[pair[arm]].values()) for pair in pairs) / len(pairs) for arm in (0, 1)]
        return shown_of_slower(found, judged, arms, whole_ms[1] - whole_ms[0])
    few = smallest_p(len(pairs)) > alpha
    told = f"its {len(pairs)} pairs show none" + (f", and {least_pairs_words(alpha)}" if few else "")
    most = max((each for each in found if each.more_ms > 0), key=lambda each: each.more_ms, default=None)
    named = f"; --cause {most.cause} puts to the test what is largest on average" if most is not None else ""
    raise SpecError(f"no cause of {asked.cell} can be put to the test: {told}", f"run more blocks{named}")


@dataclass(frozen=True)
class _OfCell:
    """Inputs that the plans of one cell share."""

    opened: OpenedStudy
    asked: Asked
    study: Study
    names: tuple[str, str]
    times: CellTimes
    follow: Mapping[str, Following]

    def plan(self, suspect: Suspect) -> Plan | str:
        """The plan of one mechanism; a clause where it cannot be put to the test."""
        from quiclab.study.confirm.choice import tried
        from quiclab.study.confirm.path_losses import by_what_lost, packets_lost, stays_without
        from quiclab.why.confirm.predict import beyond_ms, excess
        from quiclab.why.confirm.times import mechanisms_in
        from quiclab.why.mechanisms import BY_NAME

        asked, mechanism = self.asked, BY_NAME[suspect.cause]
        if (told := _not_predicted(suspect)) is not None:
            return told
        cell = cell_with(self.study, asked.study, self.names, suspect)
        direction = "up" if cell.workload.upload else "down"
        lost = packets_lost(self.opened, asked.cell, suspect.arm, direction)
        ways, shared = tried(cell, mechanism)
        ways = by_what_lost(ways, lost)

        def possible(folder: Path) -> tuple[tuple[Tried, Variants] | None, tuple[str, ...]]:
            return _first_possible(cell, mechanism, ways, folder)

        place, passed_over, chosen, impossible = _placed(asked, suspect, possible)
        why_not = (*shared, *impossible)
        if chosen is None:
            return f"{suspect.cause}: {'; '.join(why_not)}" if why_not else f"{suspect.cause} has no setting"
        way, made = chosen
        if way.equal:
            more = excess(self.opened, asked.cell, suspect, self.study.alpha)
            kept = suspect.replaced_ms if more == suspect.predicted else 0.0
            suspect = replace(suspect, predicted=more, replaced_ms=kept)
            if (told := _not_predicted(suspect)) is not None:
                return told
        own = mechanisms_in(self.opened, asked.cell, suspect.arm)
        beyond = 0.0 if way.equal else beyond_ms(suspect, own, _taken_by(way.setting), self.follow)
        planned = _plan(mechanism, suspect, beyond, self.times, cell, (way, made), place, why_not)
        return replace(planned, passed_over=passed_over, stays=stays_without(way, lost))


def cell_of(study: Study, asked: str) -> tuple[str, str]:
    """Workload and path of a cell. Raises SpecError for one that the study has not."""
    cells = {f"{w.name}/{p.name}": (w.name, p.name) for w in study.measured_workloads for p in study.paths}
    if asked not in cells:
        raise SpecError(f"the study has no cell {asked!r}", nearest(asked, list(cells), "it has"))
    return cells[asked]


def arms_of(study: Study, asked: Asked) -> tuple[str, str]:
    """The baseline and the arm that is compared with it. Raises SpecError where several are, and none is chosen."""
    arms = [arm.name for arm in study.measured_arms]
    if asked.baseline is not None and asked.baseline not in arms:
        told = f"the study has no arm {asked.baseline!r} as a baseline"
        raise SpecError(told, nearest(asked.baseline, arms, "it has"))
    baselines = {arm.name: asked.baseline or study.baseline_of(arm) for arm in study.measured_arms}
    others = [name for name in arms if name != baselines[name]]
    several = listed(list(dict.fromkeys(baselines[name] for name in others)))
    if asked.arm is not None and asked.arm not in others:
        raise SpecError(f"no arm {asked.arm!r} is compared with {several}", nearest(asked.arm, others, "these are:"))
    if asked.arm is None and len(others) > 1:
        raise SpecError(
            f"{len(others)} arms are compared with {several}",
            "choose one: " + ", ".join(f"--arm {each}" for each in others),
        )
    arm = asked.arm or others[0]
    return baselines[arm], arm


def _not_predicted(suspect: Suspect) -> str | None:
    """Reason why nothing can be predicted of a mechanism; None where something can."""
    from quiclab.why.confirm.predict import LEAST_BLOCKS

    predicted = suspect.predicted
    if predicted.blocks < LEAST_BLOCKS:
        return f"{suspect.cause}: {predicted.blocks} stored blocks predict nothing; {LEAST_BLOCKS} are the least"
    if predicted.low_ms <= 0 < suspect.replaced_ms > predicted.ms:
        return f"{suspect.cause}: by its records nothing is sure to go without it, as another limit would hold next"
    if predicted.ms <= 0:
        shown = f"{suspect.present_in} of {predicted.blocks} blocks"
        return f"{suspect.cause}: only {shown} have it, so that its median time is 0 and nothing is predicted"
    return None


def cell_with(study: Study, root: Path, names: tuple[str, str], suspect: Suspect) -> Cell:
    """The cell with the arm that has a mechanism, and the other one."""
    from quiclab.study.confirm.variants import Cell

    by_name = {arm.name: arm for arm in study.arms}
    return Cell(
        study,
        Build(StudyDir(root).spec, study).document(),
        next(each for each in study.workloads if each.name == names[0]),
        names[1],
        by_name[suspect.arm],
        by_name[suspect.other],
    )


def _placed(
    asked: Asked, suspect: Suspect, possible: Callable[[Path], tuple[tuple[Tried, Variants] | None, tuple[str, ...]]]
) -> tuple[Path, tuple[str, ...], tuple[Tried, Variants] | None, tuple[str, ...]]:
    """Return the folder of the confirming study, that of one that goes on or the next number; those that do not go on;
    and what is `possible` in that folder.

    A run goes on only with the spec that the study's own gives now: the folder may come from a stranger.
    """
    from quiclab.why.confirm.records import FOLDER, read_confirmation

    changed: list[str] = []
    number = 1
    while True:
        folder = _folder_of(asked.study.resolve() / FOLDER, asked.cell, suspect.cause, number)
        chosen, why_not = possible(folder)
        if chosen is None or is_free(folder, DECLARATION):
            return folder, tuple(changed), chosen, why_not
        found = read_confirmation(folder)
        if found is None or not found.sound:
            changed.append(f"{FOLDER}/{folder.name}: its declaration, spec or verdict was changed or is damaged")
        elif _goes_on(found, suspect):
            if found.declared.spec_sha256 == chosen[1].sha256:
                return folder, tuple(changed), chosen, why_not
            changed.append(f"{FOLDER}/{folder.name}: its spec is not the one that the study's spec.toml gives now")
        number += 1


def _folder_of(confirmed: Path, cell: str, cause: str, number: int) -> Path:
    """Folder of a confirming study, named after its cause: by a former name of that, if the study began with it."""
    folders = [confirmed / f"{cell.replace('/', '-')}-{name}-{number}" for name in names_of(cause)]
    return next((folder for folder in folders if folder.exists()), folders[-1])


def is_free(folder: Path, declaration: str) -> bool:
    """True if a confirming study can begin in a folder: it is not there, or a run was ended before anything was
    declared in it."""
    return not folder.exists() or not ((folder / declaration).exists() or StudyDir(folder).has_begun)


def _goes_on(found: Confirmation, suspect: Suspect) -> bool:
    """True if a run was declared for the same arms, and more blocks could decide it."""
    is_same = (found.declared.arm, found.declared.other) == (suspect.arm, suspect.other)
    return is_same and (found.judgement is None or not found.judgement.final)


def _taken_by(setting: Setting) -> frozenset[str]:
    """Mechanisms that a setting takes away."""
    from quiclab.study.confirm.path_losses import LOSS, LOST_BY
    from quiclab.why.mechanisms import MECHANISMS

    place = (setting.table, LOSS if setting.table == "path" and setting.key in LOST_BY else setting.key)
    return frozenset(each.name for each in MECHANISMS if place in {(other.table, other.key) for other in each.settings})


def _first_possible(
    cell: Cell, mechanism: Mechanism, ways: Sequence[Tried], place: Path
) -> tuple[tuple[Tried, Variants] | None, tuple[str, ...]]:
    """The first way that is possible here with its variants, and why those before it are not."""
    from quiclab.study.confirm.choice import cannot_have
    from quiclab.study.confirm.variants import variants
    from quiclab.why.confirm.predict import least_blocks

    own = {
        "name": f"{cell.study.name[:40]}-confirm",
        "question": f"Does {cell.name} get faster in {cell.arm.name} without one cause?",
        "seed": new_seed(cell, place),
        "blocks": least_blocks(cell.study.alpha),
        "baseline": "replay",
        "alpha": cell.study.alpha,
        "captures": cell.study.captures,
    }
    why_not: list[str] = []
    for way in ways:
        try:
            return (way, variants(cell, way.setting, own, cannot_have(mechanism, cell))), tuple(why_not)
        except SpecError as error:
            why_not.append(f"{way.setting.table}.{way.setting.key}: {error.message}")
    return None, tuple(dict.fromkeys(why_not))


def new_seed(cell: Cell, place: Path) -> int:
    """A seed of its own, which follows from the study, the cell and the number of the attempt: other draws than those
    in which the cause was seen."""
    content = "\0".join([cell.study.name, str(cell.study.seed), place.name])
    return int(hashlib.sha256(content.encode()).hexdigest()[:15], 16)


def _plan(
    mechanism: Mechanism,
    suspect: Suspect,
    beyond: float,
    times: CellTimes,
    cell: Cell,
    chosen: tuple[Tried, Variants],
    place: Path,
    why_not: tuple[str, ...],
) -> Plan:
    from quiclab.study.confirm.own_words import own_words
    from quiclab.why.confirm.declaration import Declared
    from quiclab.why.confirm.predict import blocks_needed, least_blocks, tolerance_of
    from quiclab.why.confirm.records import read_confirmation

    way, made = chosen
    before = read_confirmation(place)
    declared = Declared(
        study=cell.study.name,
        cell=cell.name,
        cause=mechanism.name,
        arm=suspect.arm,
        other=suspect.other,
        table=made.change.table,
        key=made.change.key,
        value=made.change.value,
        doses=made.doses,
        alpha=cell.study.alpha,
        seed=made.study.seed,
        predicted=suspect.predicted,
        total_ms=times.total_ms[suspect.arm],
        noise_ms=times.noise_ms[suspect.arm],
        tolerance_ms=tolerance_of(suspect.predicted),
        beyond_ms=beyond,
        places=made.places,
        sham=made.sham,
        left_out=made.left_out,
        spec_sha256=made.sha256,
        equal=way.equal,
        replaced_ms=suspect.replaced_ms,
    )
    begun = before is not None
    if before is not None:
        # What was declared stays, whatever the stored trials would predict by now.
        declared = before.declared
    trials = len(made.study.paths) * len(made.study.measured_arms)
    slow, fast = times.total_ms[suspect.arm], times.total_ms[suspect.other]
    fast_trials = len(made.study.paths) * sum(each in ("fast", "with") for each in (a.name for a in made.study.arms))
    return Plan(
        directory=place,
        begun=begun,
        declared=declared,
        spec=made.spec,
        title=mechanism.title,
        gain=way.setting.gain,
        also_changes=way.setting.also_changes,
        own_words=own_words(made.study, cell.workload, made.change),
        not_possible=why_not,
        passed_over=(),
        least_blocks=least_blocks(declared.alpha),
        blocks_needed=blocks_needed(declared.noise_ms, declared.tolerance_ms, declared.alpha),
        block_ms=trials * times.overhead_ms + (trials - fast_trials) * slow + fast_trials * fast,
    )
