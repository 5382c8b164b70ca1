# SPDX-License-Identifier: Apache-2.0
"""Which commands a trial is made of: the server, the measured client, and the throw-away client of the warm-up."""

from __future__ import annotations

from pathlib import Path

from quiclab.endpoints import Command, Context, find
from quiclab.plan.rows import PlanRow
from quiclab.runner.laboratory import WARM_UP_OBJECT, Laboratory
from quiclab.spec import model
from quiclab.testbed.certificates import HOST
from quiclab.testbed.link import SERVER_ADDRESSES

PORT = 443


def trial_command(laboratory: Laboratory, row: PlanRow, raw: Path, part: str) -> Command:
    """The command of the server, the client, or the throw-away client that warms the server up."""
    arm, path = arm_of(laboratory.study, row), path_of(laboratory.study, row)
    program = {"server": arm.server, "client": arm.client, "warm-up": model.Program("curl-cffi")}[part]
    endpoint = find("server" if part == "server" else "client", program.name)
    server_protocols = find("server", arm.server.name).protocols
    measured = part != "warm-up"
    return endpoint.command(
        Context(
            program=program,
            protocols=(arm.protocol,) if measured else _spoken(arm, server_protocols),
            ip_version=path.ip_version,
            address=SERVER_ADDRESSES[path.ip_version],
            port=PORT,
            host=HOST,
            object_name=row.workload if measured else WARM_UP_OBJECT,
            work_dir=raw.parent / "home",
            root=laboratory.root,
            certificate=laboratory.certificates.certificate,
            key=laboratory.certificates.key,
            ca=laboratory.certificates.ca,
            qlog_dir=raw / f"{part}-qlog" if measured else None,
            keylog=raw / "keys.log" if part == "client" else None,
            output=raw / f"{part}.json",
        )
    )


def _spoken(arm: model.Arm, protocols: frozenset[model.Protocol]) -> tuple[model.Protocol, ...]:
    """What the warm-up asks for: every protocol of a known server; of the user's own only the one under test."""
    return (arm.protocol,) if arm.server.name == "command" else tuple(sorted(protocols))


def arm_of(study: model.Study, row: PlanRow) -> model.Arm:
    """The arm of the spec that a row runs."""
    return next(arm for arm in study.arms if arm.name == row.arm_name)


def path_of(study: model.Study, row: PlanRow) -> model.Path:
    """The path of the spec that a row runs over."""
    return next(path for path in study.paths if path.name == row.path)
