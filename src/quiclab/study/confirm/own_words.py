# SPDX-License-Identifier: Apache-2.0
"""A setting as its program has it: the lines of its configuration, or the options, that a knob puts there."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.endpoints import Command, Context, Origin, find
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.model.study import Arm, Role, Study, Tcp, Workload
from quiclab.spec.counterfactual import Change, role_of
from quiclab.why.confirm.declaration import REPLAY, WITHOUT

LINUX = "Linux"
_LAB = Path("/lab")


@dataclass(frozen=True)
class OwnWords:
    """Lines that a program, or Linux, has for settings."""

    program: str
    """`Linux`, or the name of the program with its role."""
    lines: tuple[str, ...]
    is_ours: bool = False
    """True of a program of quiclab's own around a library: nobody else reads these lines."""


def own_words(study: Study, workload: Workload, change: Change) -> tuple[str, ...]:
    """The lines and options that the change adds for the program itself; empty where there are none to name."""
    before, after = (next((arm for arm in study.arms if arm.name == name), None) for name in (REPLAY, WITHOUT))
    if before is None or after is None:
        return ()
    return tuple(
        f"{each.program}: {line}" if each.program == LINUX else line
        for each in words_between(before, after, workload, [change])
        for line in each.lines
    )


def words_between(before: Arm, after: Arm, workload: Workload, changes: Sequence[Change]) -> tuple[OwnWords, ...]:
    """The lines and options that an arm has for the changes and another one has not, by program; nothing of settings
    that are none of a program's, and where the programs write nothing for them."""
    found = []
    if any(change.table == "tcp" for change in changes):
        found.append(OwnWords(LINUX, _tcp_words(before.tcp, after.tcp)))
    arm_tables = [each.table for each in changes if each.table not in ("tcp", "certificate", "path")]
    for role in dict.fromkeys(role_of(table, after, workload) for table in arm_tables):
        if role is not None:
            commands = [_command(arm, role, workload) for arm in (before, after)]
            name = next(program.name for each, program, _ in after.programs() if each == role)
            found.append(OwnWords(f"{name} ({role})", _added(*commands), commands[1].is_ours))
    return tuple(each for each in found if each.lines)


def _tcp_words(before: Tcp, after: Tcp) -> tuple[str, ...]:
    old = sysctls(before)
    changed = [(name, value) for name, value in sysctls(after).items() if value != old[name]]
    lines = [f"sysctl {name}=" + (f'"{value}"' if " " in value else value) for name, value in changed]
    if after.initial_window != before.initial_window:
        lines.append(f"ip route change … initcwnd {after.initial_window}")
    if after.pacing != before.pacing:
        lines.append("SO_MAX_PACING_RATE on the listening socket, or the queue fq: tc qdisc replace dev … root fq")
    return tuple(lines)


def _added(before: Command, after: Command) -> tuple[str, ...]:
    """Options, environment and lines of files that only the second command has."""
    options = _inserted(list(before.argv), list(after.argv))
    found = [" ".join(options)] if options else []
    found += [f"{name}={value}" for name, value in after.env.items() if before.env.get(name) != value]
    for file, content in after.files.items():
        lines = _inserted(before.files.get(file, "").splitlines(), content.splitlines())
        found += [line.strip().rstrip(",") for line in lines if line.strip()]
    return tuple(found)


def _inserted(before: list[str], after: list[str]) -> list[str]:
    """Items that a list has more than another one, in its order."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changed = (slice(first, last) for tag, _, _, first, last in matcher.get_opcodes() if tag in ("insert", "replace"))
    return [word for each in changed for word in after[each]]


def _command(arm: Arm, role: Role, workload: Workload) -> Command:
    """The command of one program of an arm, made of places that do not exist, and never run."""
    program, protocol = next((program, protocol) for each, program, protocol in arm.programs() if each == role)
    home = _LAB / "trial" / "home"
    context = Context(
        program=program,
        protocols=(protocol,),
        ip_version=4,
        address="10.77.0.2",
        port=443,
        host="server.test",
        object_name=workload.name,
        work_dir=home,
        root=_LAB / "www",
        certificate=_LAB / "server.crt",
        key=_LAB / "server.key",
        ca=_LAB / "ca.crt",
        qlog_dir=None,
        keylog=None,
        output=_LAB / "client.json",
        session_file=home / "session",
        uploads=_LAB / "uploads" if workload.upload and role == "client" else None,
        received=home / "received" if workload.upload and role != "client" else None,
        origin=Origin("10.77.0.2", 8443, arm.origin_protocol) if role == "proxy" else None,
    )
    return find(role, program.name).command(context)
