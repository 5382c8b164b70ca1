# SPDX-License-Identifier: Apache-2.0
"""A setting as its program has it: the lines of its configuration, or the options, that a knob puts there."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from quiclab.lab.endpoints import Command, Context, Origin, find
from quiclab.model.study import Arm, Role, Study, Workload
from quiclab.model.units import ByteCount
from quiclab.spec.counterfactual import Change, role_of
from quiclab.why.confirm.declaration import REPLAY, WITHOUT

_TCP: Mapping[str, str] = {
    "congestion_control": "sysctl net.ipv4.tcp_congestion_control={}",
    "initial_window": "ip route change … initcwnd {}",
    "receive_buffer": "sysctl net.ipv4.tcp_rmem={}",
    "send_buffer": "sysctl net.ipv4.tcp_wmem={}",
    "sack": "sysctl net.ipv4.tcp_sack={}",
    "timestamps": "sysctl net.ipv4.tcp_timestamps={}",
    "ecn": "sysctl net.ipv4.tcp_ecn={}",
    "slow_start_after_idle": "sysctl net.ipv4.tcp_slow_start_after_idle={}",
    "dsack": "sysctl net.ipv4.tcp_dsack={}",
    "reordering": "sysctl net.ipv4.tcp_reordering={}",
}
_LAB = Path("/lab")


def own_words(study: Study, workload: Workload, change: Change) -> tuple[str, ...]:
    """The lines and options that the change adds for the program itself; empty where there are none to name."""
    if change.is_of_path:
        return ()
    before, after = (next((arm for arm in study.arms if arm.name == name), None) for name in (REPLAY, WITHOUT))
    if before is None or after is None:
        return ()
    if change.table == "tcp":
        return _tcp_words(change)
    role = role_of(change.table, after, workload)
    if role is None or change.table == "certificate":
        return ()
    commands = [_command(arm, role, workload) for arm in (before, after)]
    return _added(*commands)


def _tcp_words(change: Change) -> tuple[str, ...]:
    form = _TCP.get(change.key)
    if form is None:
        return ()
    value = change.value
    if isinstance(value, tuple):  # the kernel takes bytes, and a shell one word
        shown = f'"{" ".join(str(ByteCount.parse(each).bytes) for each in value)}"'
    else:
        shown = str(int(value)) if isinstance(value, bool) else str(value)
    return (f"Linux: {form.format(shown)}",)


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
