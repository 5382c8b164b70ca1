# SPDX-License-Identifier: Apache-2.0
"""A search before it runs, and the specs of its stages. Nothing here loads what reads tables: the process that enters
the sandbox knows the plan."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.spec.counterfactual import PathVariant, Variant
from quiclab.spec.scaled_path import Scaling
from quiclab.spec.toml_text import toml_text
from quiclab.study.confirm.variants import Cell, read_back, refuse_what_cannot_run
from quiclab.study.tune.candidates import Candidate
from quiclab.study.tune.minutes import Shares
from quiclab.study.tune.result import AS_IT_IS, TUNED
from quiclab.study.tune.search_progress import SearchProgress

ENDS = ("client", "server", "tcp")
_HEADING = "# Written by `quiclab tune`: one cell, arms that differ in settings, in the same blocks.\n\n"


@dataclass(frozen=True)
class TuneRequest:
    """Request of a user."""

    study: Path
    cell: str
    arm: str | None
    minutes: float
    ends: tuple[str, ...]
    """Ends whose settings are tried, of `ENDS`."""
    knobs: tuple[str, ...]
    """Names of the knobs that are tried; empty for all."""


@dataclass(frozen=True)
class TuningPlan:
    """Everything about a search before it begins."""

    directory: Path
    """Folder of its studies."""
    cell: Cell
    why_this_arm: str
    """Reason for which this arm is tuned, as a clause; "" where it was asked for or is the only one."""
    candidates: tuple[Candidate, ...]
    """Settings of the first heat, for which the minutes surely suffice."""
    left_out: tuple[Candidate, ...]
    """Settings that race in further heats, as far as the first leaves time for them."""
    neighbours: tuple[Scaling, ...]
    """Neighbouring networks on which the chosen setting is checked."""
    unchecked: tuple[Scaling, ...]
    """Neighbouring networks for which the minutes are too few."""
    no_neighbours: tuple[str, ...]
    """Reasons why the network has no others."""
    minutes: float
    trial_s: float
    """Time of a trial with everything around it, as the study's own took it."""
    metric: str
    unit: str
    least_pairs: int
    """Fewest fresh pairs that decide anything."""
    fits: Shares
    progress: SearchProgress | None = None
    """State of the search that goes on, where one of the same was ended."""
    passed_over: str = ""
    """Sentence about the last search for this arm and cell, where that was ended and does not go on; else ""."""

    @property
    def asked(self) -> dict[str, str]:
        """Everything by which a search goes on or is another one: name → value."""
        document = toml_text(self.cell.document)
        return {
            "minutes": f"{self.minutes:g}",
            "settings": ", ".join(each.text for each in self.candidates),
            "settings of further heats": ", ".join(each.text for each in self.left_out),
            "neighbouring networks": ", ".join(map(str, self.neighbours)),
            "metric": self.metric,
            "spec of the study": hashlib.sha256(document.encode()).hexdigest(),
        }

    @property
    def matters_pct(self) -> float:
        """Smallest effect of interest, in per cent."""
        return self.cell.study.matters.pct


@dataclass(frozen=True)
class Stage:
    """One study of a search."""

    name: str
    directory: Path
    spec: str
    blocks: int
    trials_a_block: int


def stage_of(
    plan: TuningPlan, name: str, arms: Sequence[Variant], blocks: int, paths: Sequence[PathVariant] = ()
) -> Stage:
    """The study of a stage, with seeds of its own: no stage meets the losses that another one chose by. Raises
    SpecError for what cannot run."""
    place = plan.directory / name
    seeded = "\0".join([plan.cell.study.name, str(plan.cell.study.seed), plan.directory.name, name])
    own: dict[str, object] = {
        "name": f"{plan.cell.study.name[:40]}-tune-{name}",
        "question": f"Which settings make {plan.cell.arm.name} faster in {plan.cell.name}?",
        "seed": int(hashlib.sha256(seeded.encode()).hexdigest()[:15], 16),
        "blocks": blocks,
        "alpha": plan.cell.study.alpha,
        "captures": plan.cell.study.captures,
        **({"baseline": arms[0].name} if len(arms) > 1 else {}),
    }
    over = list(paths) or [PathVariant(plan.cell.path)]
    spec, study = read_back(plan.cell, arms, over, own, heading=_HEADING)
    refuse_what_cannot_run(study, plan.cell.workload.name)
    return Stage(name, place, spec, blocks, len(arms) * len(over))


def as_it_is(plan: TuningPlan) -> Variant:
    """The arm that is tuned, without a change."""
    return Variant(AS_IT_IS, plan.cell.arm.name)


def with_settings(plan: TuningPlan, chosen: Sequence[Candidate], name: str = TUNED) -> Variant:
    """The arm with settings."""
    return Variant(name, plan.cell.arm.name, tuple(change for each in chosen for change in each.changes))


def neighbour_paths(plan: TuningPlan) -> list[PathVariant]:
    """Paths of the neighbouring networks."""
    return [
        PathVariant(f"{plan.cell.path[:40]}-{str(each).replace(' ', '-')}", scaling=each) for each in plan.neighbours
    ]


def neighbour_pairs(plan: TuningPlan) -> int:
    """Pairs of each neighbouring network: the fewest with which one alone can be shown to differ."""
    from quiclab.compare.statistics import pairs_needed  # late, as it loads what has threads

    return pairs_needed(plan.cell.study.alpha, len(plan.neighbours))
