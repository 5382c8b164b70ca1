# SPDX-License-Identifier: Apache-2.0
"""A probe of servers that are not quiclab's, inside the sandbox: one look at each target, then the trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from quiclab.lab.runner.allowance import Allowance, Bounds
from quiclab.lab.runner.probe import Probe, lend_ca, open_laboratory_for_probe, run_probe_trial
from quiclab.lab.runner.probe_transfer import CLIENT
from quiclab.lab.testbed.backend import choose_backend
from quiclab.lab.testbed.forwarded import ForwardedWay
from quiclab.lab.testbed.link import Backend
from quiclab.model.errors import SpecError
from quiclab.model.resolved_record import KeptLooks
from quiclab.model.study import Limits, Study
from quiclab.model.study import Path as LinkPath
from quiclab.model.units import Duration, Share
from quiclab.plan.probing import describe_probe, planned_requests, probe_study
from quiclab.spec.defaults import with_defaults
from quiclab.spec.resolved import resolved_json
from quiclab.spec.target import Target
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.identity import conflicts
from quiclab.store.layout import StudyDir
from quiclab.store.record_form import as_record
from quiclab.store.resolved_form import read_kept_looks
from quiclab.study.observer import Observer
from quiclab.study.probe_looks import UrlAnswer, comparable, look_at
from quiclab.study.probe_order import Order, kept_looks
from quiclab.study.trials import Outcome, run_trials

_LOOK_LIMIT = Duration(15 * 10**9)
_ANY = Share(1.0)
"""A look measures nothing: however late the link is, it counts."""


def looks_and_trials(
    order: Order, study_dir: StudyDir, wanted: Backend | None, looked: Callable[[UrlAnswer], None], observer: Observer
) -> Outcome:
    """Look at each target, unless an earlier run has, and run the trials of those that can be compared.

    `looked` is told of each look. Raises TrialError where nothing can be compared, SpecError for other options than
    those of an earlier run.
    """
    limits = Limits(trial=min(_LOOK_LIMIT, order.limits.trial), disturbance=_ANY)
    look_study = _study(order, study_dir, order.targets, LinkPath(name="look", mtu=order.path.mtu), limits, {})
    probe = _probe(order, study_dir, look_study, wanted)
    kept = kept_looks(study_dir)
    if kept is None:
        looks = _look_at_all(order, probe, look_study)
        for look in looks:
            looked(look)
        document = _looks_document(order, looks)
        kept = as_record(document, KeptLooks)
    else:
        document = read_object(study_dir.resolved)["probe"]
    sizes = {each.name: max(each.looks.values()) for each in kept.targets}
    used = [probe.targets[name] for name in sizes]
    study = _study(order, study_dir, used, order.path, order.limits, sizes)
    _keep(study_dir, resolved_json(study) | {"arms_summary": describe_probe(used, CLIENT), "probe": document})
    ready = replace(probe, laboratory=replace(probe.laboratory, study=study))
    return run_trials(
        study,
        study_dir,
        wanted,
        rounds_later=0,  # servers of others get no more requests than was announced
        prepare=lambda *_: (ready.laboratory, lambda row, attempt: run_probe_trial(ready, row, attempt)),
        observer=observer,
    )


def _study(
    order: Order, study_dir: StudyDir, targets: Sequence[Target], path: LinkPath, limits: Limits, sizes: dict[str, int]
) -> Study:
    name = study_dir.root.name
    return probe_study(name, targets, path, CLIENT, pairs=order.pairs, seed=order.seed, limits=limits, sizes=sizes)


def _probe(order: Order, study_dir: StudyDir, study: Study, wanted: Backend | None) -> Probe:
    laboratory = open_laboratory_for_probe(study, study_dir.root, wanted or choose_backend()[0])
    bounds = Bounds(order.requests, order.body_bytes, order.pause)
    allowance = Allowance(study_dir.root / "requests.json", bounds)
    targets = {target.name: target for target in order.targets}
    return Probe(laboratory, targets, ForwardedWay(), allowance, lend_ca(laboratory, order.ca), order.insecure)


def _look_at_all(order: Order, probe: Probe, study: Study) -> list[UrlAnswer]:
    """Look at every target. Raises TrialError where nothing can be compared."""
    share = order.body_bytes.bytes // max(planned_requests(order.targets, order.pairs).values())
    looks = [look_at(replace(probe, most_bytes=share), study, target) for target in order.targets]
    comparable(looks)
    return looks


def _looks_document(order: Order, looks: Sequence[UrlAnswer]) -> dict[str, object]:
    """Return the looks as resolved.json has them."""
    return {
        "targets": [asdict(look.target) | {"looks": look.body_bytes} for look in comparable(looks)],
        "left_out": {look.target.url: look.problems for look in looks if look.problems},
        "any_certificate": order.insecure,
    }


def _keep(study_dir: StudyDir, resolved: dict[str, Any]) -> None:
    if study_dir.resolved.exists():
        before = read_object(study_dir.resolved)
        read_kept_looks(before, study_dir.resolved, whole=True)
        found = conflicts(with_defaults(before), resolved)
        ways = [each["paths"][0]["title"] for each in (before, resolved)]
        if ways[0] != ways[1]:
            found = (*found, f"the link: was {ways[0]!r}, is {ways[1]!r}")
        if found:
            hint = "a study may grow, but not change: choose another directory with --out"
            raise SpecError(f"{study_dir.root} was probed with other options", hint, found)
    write_atomically(study_dir.resolved, json.dumps(resolved, indent=1))
