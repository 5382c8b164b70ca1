# SPDX-License-Identifier: Apache-2.0
"""Combinations to try between clients, servers and proxies, as trials of one study over a quiet path."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quiclab.lab.endpoints import Endpoint, objections
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import AaControl, Arm, Direction, Knobs, Limits, Path, Program, Study, Tcp, Workload
from quiclab.model.units import Bitrate, ByteCount, Duration, Share

OBJECTS = {"1KB": 1000, "1MB": 1_000_000}
_LIMIT_S = 20


@dataclass(frozen=True)
class Case:
    """One thing to try."""

    arm: Arm
    workload: str
    what: str
    """`1KB`, `1MB`, `0-RTT` or `migration`."""

    @property
    def row(self) -> PlanRow:
        """The row that a plan would have of it."""
        trial_id = hashlib.sha256(f"{self.arm.name} {self.what}".encode()).hexdigest()[:16]
        return PlanRow(
            trial_id=trial_id,
            kind="main",
            cell_id=f"{self.workload}/quiet",
            workload=self.workload,
            path="quiet",
            arm=self.arm.name,
            arm_name=self.arm.name,
            baseline_arm=self.arm.name,
            block=0,
            block_id=trial_id,
            seed=1,
            position=0,
        )


def cases(clients: Sequence[Endpoint], fronts: Sequence[Endpoint]) -> Iterator[Case]:
    """Everything that can be tried between them."""
    for client in clients:
        for front in fronts:
            for protocol in sorted((client.protocols & front.protocols) - {"h1"}):
                plain = _arm(client, front, protocol)
                for workload in OBJECTS:
                    yield Case(plain, workload, workload)
                early, migrating = _early(plain, front), _migrating(plain, client)
                if "early_data" in front.abilities and not objections(early, [_workload("1KB")]):
                    yield Case(early, "1KB", "0-RTT")
                if not objections(migrating, [_workload("1MB")]):
                    yield Case(migrating, "1MB", "migration")


def _arm(client: Endpoint, front: Endpoint, protocol: Any) -> Arm:
    name = f"{client.name}.{front.role}.{front.name}.{protocol}"
    plain = Arm(name, protocol, Program(client.name), Program(front.name), Tcp("cubic"))
    return plain if front.role == "server" else replace(plain, proxy=plain.server, server=Program("caddy"))


def _early(plain: Arm, front: Endpoint) -> Arm:
    """0-RTT asked for, and switched on where that is a switch."""
    arm = replace(plain, name=f"{plain.name}.0-RTT", client=_with(plain.client, session="early_data"))
    if "early_data" not in front.knobs.get(plain.protocol, ()):
        return arm
    program = replace(arm.front, knobs=Knobs(early_data=True))
    return replace(arm, proxy=program) if arm.proxy else replace(arm, server=program)


def _migrating(plain: Arm, client: Endpoint) -> Arm:
    knobs: dict[str, object] = {"migration": "active"}
    if "migrate_at" in client.knobs.get(plain.protocol, ()):
        knobs["migrate_at"] = ByteCount(200_000)
    return replace(plain, name=f"{plain.name}.migration", client=_with(plain.client, **knobs))


def _with(program: Program, **knobs: Any) -> Program:
    return replace(program, knobs=replace(program.knobs, **knobs))


def _workload(name: str) -> Workload:
    return Workload(name, ByteCount(OBJECTS[name]))


def study_of(tried: Sequence[Case]) -> Study:
    """The study whose trials they are."""
    quiet = Direction(rate=Bitrate(100_000_000), delay=Duration(5_000_000))
    return Study(
        name="conformance",
        seed=1,
        blocks=1,
        workloads=tuple(map(_workload, OBJECTS)),
        paths=(Path("quiet", up=quiet, down=quiet),),
        arms=tuple({case.arm.name: case.arm for case in tried}.values()),
        baseline=tried[0].arm.name,
        aa=AaControl("1KB", "quiet", 1),
        # Whether programs understand each other does not depend on how punctual the link is.
        limits=Limits(trial=Duration(_LIMIT_S * 10**9), disturbance=Share(1.0)),
    )
