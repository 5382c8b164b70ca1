# SPDX-License-Identifier: Apache-2.0
"""Commands of a trial: server, proxy, the measured client, and the throw-away clients before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from quiclab.lab.endpoints import Command, Context, Origin, PageContext, find
from quiclab.lab.runner.laboratory import WARM_UP_OBJECT, Laboratory
from quiclab.lab.runner.pages import ServedPage
from quiclab.lab.runner.places import SERVER, address_of, front_place
from quiclab.lab.testbed.certificates import HOST
from quiclab.model import study as model
from quiclab.model.plan_row import PlanRow

PORT = 443
"""Port at which the client finds the server, or the proxy before it."""
ORIGIN_PORT = 8443
"""Port at which a server listens that has a proxy before it."""

Part = Literal["server", "proxy", "client", "warm-up", "first-visit"]
"""`warm-up` is one request per protocol by another client; `first-visit` fetches the session ticket of the client that
is measured. Both run over the front's loopback, unless the ticket is to come with an address token."""


def parts_of(arm: model.Arm) -> tuple[Part, ...]:
    """Programs that run in a trial of this arm."""
    parts: tuple[Part, ...] = ("server", "proxy") if arm.proxy else ("server",)
    parts += ("warm-up",)
    return (*parts, "first-visit", "client") if resumes(arm) else (*parts, "client")


def resumes(arm: model.Arm) -> bool:
    """True if the measured client resumes a session, and so needs a first visit."""
    return arm.client.knobs.session in ("resumed", "early_data")


def trial_command(laboratory: Laboratory, row: PlanRow, raw: Path, part: Part) -> Command:
    """The command of one part of the trial."""
    arm, path = arm_of(laboratory.study, row), path_of(laboratory.study, row)
    front, server = (address_of(place, path.ip_version) for place in (front_place(arm, path), SERVER))
    seat = Seat(raw, raw.parent / "home", path.ip_version, front, PORT, qlogs=True, origin=server)
    return part_command(laboratory, arm, workload_of(laboratory.study, row), seat, part)


@dataclass(frozen=True)
class Seat:
    """Places and addresses of one client's and its server's programs."""

    raw: Path
    """Folder for the programs' logs."""
    home: Path
    """Folder for the programs' other files."""
    ip_version: Literal[4, 6]
    address: str
    """The front's address."""
    port: int
    """The front's port."""
    qlogs: bool
    """True if client and servers leave logs of their packets."""
    origin: str | None = None
    """The server's address, where a proxy answers the client elsewhere."""


def part_command(laboratory: Laboratory, arm: model.Arm, workload: model.Workload, seat: Seat, part: Part) -> Command:
    """The command of one part of an arm, wherever its seat is."""
    role = _role(part)
    program = _program(arm, part)
    behind = part == "server" and arm.proxy is not None
    logged = part not in ("warm-up", "first-visit")
    page = laboratory.pages.get(workload.name)
    names = (page.document,) if page else workload.object_names
    certificates = laboratory.certificates[arm.certificate]
    return find(role, program.name).command(
        Context(
            program=program,
            protocols=_protocols(arm, part),
            ip_version=seat.ip_version,
            address=(seat.origin or seat.address) if part == "server" else seat.address,
            port=ORIGIN_PORT if behind else seat.port,
            host=HOST,
            object_name=names[0] if logged else WARM_UP_OBJECT,
            work_dir=seat.home,
            root=page.root if page else laboratory.root,
            certificate=certificates.certificate,
            key=certificates.key,
            ca=certificates.ca,
            qlog_dir=seat.raw / f"{part}-qlog" if logged and seat.qlogs else None,
            keylog=seat.raw / "keys.log" if part == "client" else None,
            output=seat.raw / f"{part}.json",
            session_file=seat.home / "session",
            content_type=workload.content_type,
            other_objects=names[1:] if logged else (),
            concurrency=workload.at_once if logged and not page else 1,
            video=workload.video if logged else None,
            uploads=laboratory.uploads if logged and workload.upload else None,
            received=received_folder(seat.raw) if workload.upload else None,
            address_change=workload.address_change if part == "client" else None,
            priming=part == "first-visit",
            page=_page(laboratory, page, arm, seat, behind=behind) if page else None,
            kept=laboratory.kept,
            origin=Origin(seat.origin or seat.address, ORIGIN_PORT, arm.origin_protocol) if part == "proxy" else None,
        )
    )


def _page(laboratory: Laboratory, page: ServedPage, arm: model.Arm, seat: Seat, *, behind: bool) -> PageContext:
    """The page as one program needs it. All hosts serve the same files: the front is all of them, and asks one server
    behind it."""
    context = page.context(arm.certificate, seat.ip_version, laboratory.study.limits.trial.s, seat.address)
    context = replace(context, cacheable=bool(arm.client.knobs.http_cache))
    return replace(context, hosts=context.hosts[:1]) if behind else context


def received_folder(raw: Path) -> Path:
    """Folder in which the server keeps what is uploaded in a trial."""
    return raw.parent / "home" / "received"


def shown_name(arm: model.Arm, part: Part) -> str:
    """Name of this part's program in messages: its name in specs, or that of the user's own command."""
    program = _program(arm, part)
    return program.argv[0].rpartition("/")[2] if program.argv else program.name


def _program(arm: model.Arm, part: Part) -> model.Program:
    programs = {"server": arm.server, "proxy": arm.proxy, "client": arm.client, "first-visit": arm.client}
    return programs.get(part) or model.Program("curl-cffi")


def _role(part: Part) -> model.Role:
    return part if part in ("server", "proxy") else "client"


def _protocols(arm: model.Arm, part: Part) -> tuple[model.Protocol, ...]:
    if part == "server" and arm.proxy is not None:
        return (arm.origin_protocol,)
    return (arm.protocol,) if part in ("client", "first-visit") else _spoken(arm)


def _spoken(arm: model.Arm) -> tuple[model.Protocol, ...]:
    """Protocols that are served, and that the warm-up asks for, the protocol under test first: every protocol of a
    program that is known; of the user's own only that one."""
    front = find("proxy" if arm.proxy else "server", arm.front.name)
    if front.name == "command":
        return (arm.protocol,)
    return (arm.protocol, *sorted(front.protocols - {"h1", arm.protocol}))


def arm_of(study: model.Study, row: PlanRow) -> model.Arm:
    """The arm of the spec that a row runs."""
    return next(arm for arm in study.arms if arm.name == row.arm_name)


def workload_of(study: model.Study, row: PlanRow) -> model.Workload:
    """The workload of the spec that a row transfers."""
    return next(workload for workload in study.workloads if workload.name == row.workload)


def path_of(study: model.Study, row: PlanRow) -> model.Path:
    """The path of the spec that a row runs over."""
    return next(path for path in study.paths if path.name == row.path)
