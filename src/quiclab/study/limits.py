# SPDX-License-Identifier: Apache-2.0
"""Limits of a study that change between its runs: told, recorded, and held by what was kept before.

Void blocks are run again under the new limits, and not judged again: the first void trial ends an attempt at its block,
so there is no whole attempt that a wider limit could save. A trial that was verified under a wider limit and is later
than the new one allows is void from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quiclab.plan.rows import PlanRow
from quiclab.spec.link import lateness_bounds
from quiclab.spec.model import Study
from quiclab.store.layout import StudyDir, judged_document, read_object
from quiclab.store.ledger import Ledger
from quiclab.units import Duration
from quiclab.verify.ends import ends_problem

EARLIER = "earlier_limits"
"""Member of resolved.json with the limits that earlier runs of the study had, oldest first."""


def earlier_limits(before: Mapping[str, Any], limits: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Limits that runs of a study had before these, from its resolved.json of the last run."""
    earlier: list[dict[str, Any]] = list(before.get(EARLIER) or [])
    last = before.get("limits")
    return earlier if last in (None, limits) else [*earlier, last]


def told_changes(earlier: Mapping[str, Any], study: Study) -> tuple[str, ...]:
    """Say in a sentence each what a changed limit does to a study that has trials; `earlier` are its limits until
    now, as resolved.json has them."""
    now = study.limits
    changes = []
    if earlier["attempts"] != now.attempts:
        does = (
            "blocks that stayed void are run again, up to so many attempts in all, and twice more at the end"
            if now.attempts > earlier["attempts"]
            else "it holds for blocks that are run from now on"
        )
        changes.append(f"limits.attempts was {earlier['attempts']} and is {now.attempts}: {does}")
    if (was := Duration(earlier["lateness_p99_ns"])) != now.lateness_p99:
        does = (
            "void blocks are run again under the new limit"
            if now.lateness_p99 > was
            else "trials that are later than that are void now, and their blocks are run again"
        )
        changes.append(f"limits.lateness_p99 was {was} and is {now.lateness_p99}: {does}")
    for name, limit in (("trial", now.trial), ("ready", now.ready)):
        if (old := Duration(earlier[f"{name}_ns"])) != limit:
            changes.append(f"limits.{name} was {old} and is {limit}: it holds for trials that are run from now on")
    return tuple(changes)


def void_what_is_too_late(study: Study, study_dir: StudyDir, ledger: Ledger, rows: Sequence[PlanRow]) -> None:
    """Void the verified trials that are later than `limits.lateness_p99` allows by now: an earlier run allowed more."""
    limit = study.limits.lateness_p99
    earlier = read_object(study_dir.resolved).get(EARLIER) or []
    if all(each["lateness_p99_ns"] <= limit.ns for each in earlier):
        return
    attempts = ledger.attempts()
    for row in rows:
        last = attempts[row.trial_id][-1] if row.trial_id in attempts else None
        document = None if last is None or last.status != "verified" else judged_document(study_dir.folder(last))
        if last is None or document is None:
            continue
        if (late := _too_late(study, row, document)) is not None:
            ledger.overrule(last, "void", f"limits.lateness_p99 is {limit} by now: {late}")


def _too_late(study: Study, row: PlanRow, document: dict[str, Any]) -> str | None:
    path = next(path for path in study.paths if path.name == row.path)
    workload = next(workload for workload in study.workloads if workload.name == row.workload)
    change = workload.address_change
    later = None if change is None else change.path_after(path)
    bounds = lateness_bounds(path, study.limits.lateness_p99, later)
    for bound, link in zip(bounds, (document["link"], *document["link"].get("more_links", ())), strict=False):
        if (p99_ns := link["lateness"]["p99_ns"]) > bound.ns:
            late, most = (f"{ns / 1e6:.3g} ms" for ns in (p99_ns, bound.ns))
            return f"1 % of the link's packets left at least {late} late (bound {most})"
    return ends_problem(document | {"lateness_bound_ns": study.limits.lateness_p99.ns})
