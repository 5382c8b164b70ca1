# SPDX-License-Identifier: Apache-2.0
"""Limits of a study that change between its runs: told, recorded, and held by what was kept before.

Void blocks are run again under the new limits, and not judged again: the first void trial ends an attempt at its block,
so there is no whole attempt that a wider limit could save. A trial that was verified under a wider limit and is
disturbed more than the new one tolerates is void from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose

from quiclab.model.plan_row import PlanRow
from quiclab.model.study import LEAST_TOLERATED, Limits, Study, default_tolerated
from quiclab.model.units import Duration, Share
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir, read_record
from quiclab.store.ledger import Ledger

EARLIER = "earlier_limits"
"""Member of resolved.json with the limits that earlier runs of the study had, oldest first."""


def earlier_limits(before: Mapping[str, object], now: Mapping[str, object]) -> list[object]:
    """Limits that runs of a study had before those of the resolved spec `now`; `before` is that of the last run."""
    known = before.get(EARLIER)
    earlier = list[object](known) if isinstance(known, list) else []
    if before.get("limits") is None:
        return earlier
    limits = _limits_of(before)
    same = tolerated_pct(limits, before) == tolerated_pct(limits, now)
    last = limits if same else _in_full(before)
    return earlier if last == now["limits"] else [*earlier, last]


def _limits_of(resolved: Mapping[str, object]) -> dict[str, object]:
    """The limits of a resolved spec, as they are. Raises TypeError where they are no object."""
    limits = resolved["limits"]
    if not isinstance(limits, dict):
        raise TypeError(f"limits {limits!r}")
    return limits


def _in_full(resolved: Mapping[str, object]) -> dict[str, object]:
    """The limits of a resolved spec, with the disturbance that its smallest difference of interest implies where it
    names none: both may change between two runs."""
    limits = {name: value for name, value in _limits_of(resolved).items() if name != "disturbance"}
    return limits | {"disturbance_pct": tolerated_pct(limits, resolved)}


def tolerated_pct(limits: Mapping[str, object], resolved: Mapping[str, object]) -> float:
    """Share that limits tolerate, in per cent: their own, or what the smallest difference of interest in a resolved
    spec implies."""
    named = limits.get("disturbance_pct")
    if isinstance(named, int | float):
        return float(named)
    matters = resolved.get("matters_pct")
    return (default_tolerated(Share(matters / 100)) if isinstance(matters, int | float) else LEAST_TOLERATED).pct


def told_changes(before: Mapping[str, object], study: Study) -> tuple[str, ...]:
    """Say in a sentence each what a changed limit does to a study that has trials; `before` is its resolved spec until
    now."""
    return tuple(f"{change}: {does}" for change, does in changed_limits(before, study))


def changed_limits(before: Mapping[str, object], study: Study) -> tuple[tuple[str, str], ...]:
    """Each limit of a study that is not as in its resolved spec `before`, and what that does to a study that has
    trials."""
    from quiclab.model.resolved_record import ResolvedLimits
    from quiclab.store.record_form import as_record

    limits, now = _in_full(before), study.limits
    earlier = as_record(limits, ResolvedLimits, "limits of resolved.json")
    changes = []
    if earlier.attempts is not None and earlier.attempts != now.attempts:
        does = (
            "blocks that stayed invalid are run again, up to so many attempts in all, and twice more at the end"
            if now.attempts > earlier.attempts
            else "it holds for blocks that are run from now on"
        )
        changes.append((f"limits.attempts was {earlier.attempts} and is {now.attempts}", does))
    was, tolerated = tolerated_by(limits, study), study.tolerated
    if not isclose(was.value, tolerated.value):
        does = (
            "blocks with a trial beyond the old one are run again"
            if tolerated.value > was.value
            else "trials beyond the new one are invalid now, and their blocks are run again"
        )
        changes.append((f"limits.disturbance was {was} and is {tolerated}", does))
    for name, old_ns, limit in (("trial", earlier.trial_ns, now.trial), ("ready", earlier.ready_ns, now.ready)):
        if old_ns is not None and (old := Duration(old_ns)) != limit:
            changes.append((f"limits.{name} was {old} and is {limit}", "it holds for trials that are run from now on"))
    return tuple(changes)


def tolerated_by(limits: Mapping[str, object], study: Study) -> Share:
    """Share that the limits of an earlier run tolerated, as resolved.json has them."""
    pct = limits.get("disturbance_pct")
    return Share(pct / 100) if isinstance(pct, int | float) else replace(study, limits=Limits()).tolerated


def void_what_is_disturbed(study: Study, study_dir: StudyDir, ledger: Ledger, rows: Sequence[PlanRow]) -> None:
    """Void the verified trials that are disturbed more than the study tolerates by now: an earlier run allowed more."""
    earlier = read_object(study_dir.resolved).get(EARLIER) or []
    if all(tolerated_by(each, study).value <= study.tolerated.value for each in earlier):
        return
    import msgspec  # what plans a study alone needs no records

    from quiclab.evidence.verify.disturbed import disturbance_problem

    attempts = ledger.attempts()
    for row in rows:
        last = attempts[row.trial_id][-1] if row.trial_id in attempts else None
        trial = None if last is None or last.status != "verified" else read_record(study_dir.folder(last))
        if last is None or trial is None:
            continue
        now = msgspec.structs.replace(trial, tolerated=study.tolerated.value)
        if (problem := disturbance_problem(now)) is not None:
            ledger.overrule(last, "void", problem)
