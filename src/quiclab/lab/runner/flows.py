# SPDX-License-Identifier: Apache-2.0
"""Flows that a trial has beside the measured one: a pure function, the same for all trials of a block."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from quiclab.lab.runner.commands import PORT, workload_of
from quiclab.lab.testbed.hub import Pair
from quiclab.model import study as model
from quiclab.model.plan_row import PlanRow
from quiclab.model.units import Duration

MEASURED = "measured"
"""The label of the flow that the trial is about."""


@dataclass(frozen=True)
class Flow:
    """One flow beside the measured one."""

    label: str
    """Unique in the trial: `h2-1`, `udp-1`."""
    pair: Pair
    start: Duration
    """Start of the flow, since the competition began."""
    tcp: model.Tcp
    """TCP's settings in its own two namespaces."""
    arm: model.Arm | None = None
    """The arm of a download, with its workload."""
    workload: model.Workload | None = None
    background: model.Background | None = None
    """Background traffic, of a flow without an arm."""

    @property
    def port(self) -> int:
        """The port of its server: no other flow has it, so that a port tells the flow of a packet."""
        return PORT + self.pair.number


def other_flows(study: model.Study, row: PlanRow) -> tuple[Flow, ...]:
    """The other flows in the order of the spec, numbered from 1."""
    own = workload_of(study, row)
    competition = own.competition
    if competition is None:
        return ()
    numbers: Counter[str] = Counter()
    draw = random.Random(f"starts/{row.seed}")  # noqa: S311
    flows: list[Flow] = []
    for each in _each(competition):
        kind = each.arm if isinstance(each, model.Competitor) else each.kind
        numbers[kind] += 1
        late = Duration(int(draw.random() * competition.start_spread.ns))
        label, pair, start = f"{kind}-{numbers[kind]}", Pair(len(flows) + 1), each.start + late
        if isinstance(each, model.Competitor):
            arm = next(arm for arm in study.arms if arm.name == each.arm)
            named = (workload for workload in study.workloads if workload.name == each.workload)
            work = _as_long_as_it_takes(next(named, own), study.limits.trial)
            flows.append(Flow(label, pair, start, arm.tcp, arm, work))
        else:
            baseline = next(arm for arm in study.arms if arm.name == study.baseline)
            flows.append(Flow(label, pair, start, baseline.tcp, background=each))
    return tuple(flows)


def _as_long_as_it_takes(workload: model.Workload, limit: Duration) -> model.Workload:
    """A competitor watches its video until all is over."""
    if workload.video is None:
        return workload
    return replace(workload, video=replace(workload.video, watch=limit))


def who_cannot_run(row: PlanRow, flows: Iterable[Flow], cannot_run: Mapping[str, str]) -> str | None:
    """Reason why a trial cannot run here: its own arm's programs, or a competitor's. `cannot_run` is by arm."""
    if row.arm_name in cannot_run:
        return cannot_run[row.arm_name]
    reasons = (
        f"{flow.label}: {cannot_run[flow.arm.name]}" for flow in flows if flow.arm and flow.arm.name in cannot_run
    )
    return next(reasons, None)


def _each(competition: model.Competition) -> Iterator[model.Competitor | model.Background]:
    for each in competition.others:
        for _ in range(each.count):
            yield each
