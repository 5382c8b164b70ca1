# SPDX-License-Identifier: Apache-2.0
"""The programs of one trial: client, server, the proxy if there is one, and the throw-away clients before them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from quiclab.lab.endpoints import Command
from quiclab.lab.runner.commands import Part, parts_of, received_folder, shown_name, trial_command
from quiclab.lab.runner.cpu import SlowCpu
from quiclab.lab.runner.jails import role_of
from quiclab.lab.runner.observation import Observation
from quiclab.lab.runner.places import place_of_part
from quiclab.lab.runner.running_trial import RunningTrial
from quiclab.lab.testbed.emulator import emulated
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.syscall_count import counting
from quiclab.model import study

_GRACE_S = 1.0
_COUNTED_GRACE_S = 15.0
"""A program whose every call stops it twice takes its time to end, and its counts come last."""


def counts_file(raw: Path, role: str) -> Path:
    """File that strace left of one program of a counted trial."""
    return raw / f"{role}.calls"


def commands_with_files(trial: RunningTrial) -> dict[Part, Command]:
    """The command of every part of a trial; the files and folders that they need are written."""
    commands = {part: trial_command(trial.laboratory, trial.row, trial.raw, part) for part in parts_of(trial.arm)}
    for part, command in commands.items():
        for file, content in command.files.items():
            real = trial.real(part, file)
            real.parent.mkdir(exist_ok=True)
            real.write_text(content)
    if trial.workload.upload:
        trial.real("server", received_folder(trial.raw)).mkdir(parents=True, exist_ok=True)
    for part in commands:
        if part in ("server", "proxy", "client"):
            trial.real(part, trial.raw / f"{part}-qlog").mkdir()
    trial.jails.build()
    return commands


class Programs:
    """Starts the programs of a trial and ends them."""

    def __init__(
        self,
        trial: RunningTrial,
        commands: Mapping[Part, Command],
        namespaces: Mapping[str, NetworkNamespace],
        observation: Observation,
    ) -> None:
        self.commands = commands
        self.started: dict[Part, Process] = {}
        """Processes in the order of their start."""
        self._trial = trial
        self._namespaces = namespaces
        self._observation = observation
        self._emulated = {role for role, program, _ in trial.arm.programs() if program.cpu_by == "emulator"}
        self._slow: dict[str, SlowCpu] = {
            role: trial.resources.enter_context(SlowCpu(program, trial.path.base_rtt, trial.laboratory.calibrations))
            for role, program, _ in trial.arm.programs()
        }

    @property
    def front_part(self) -> Part:
        """The part that answers the client."""
        return "proxy" if self._trial.arm.proxy else "server"

    @property
    def answering(self) -> dict[study.Role, Process]:
        """Role → program that the transfer needs beside the client, beginning with the one that answers it."""
        roles: tuple[study.Role, ...] = ("proxy", "server")
        return {role: self.started[role] for role in roles if role in self.started}

    def start(self, part: Part) -> Process:
        """Start one program, in its place."""
        trial, command = self._trial, self.commands[part]
        argv = command.argv
        if part in self._emulated:
            argv = emulated(argv, command.env.get("PATH", os.defpath))
        if trial.counted and part in self._slow:
            argv = counting(argv, counts_file(trial.raw, part), command.env.get("PATH", os.defpath))
        process = Process(
            f"the {part} ({shown_name(trial.arm, part)})",
            argv,
            command.env,
            self._namespaces[place_of_part(trial.arm, trial.path, part)],
            work_dir=trial.home,
            output=trial.raw / f"{part}.out",
            jail=trial.jails.jail(role_of(part)),
            waits_for_go=command.waits_for_go,
        )
        trial.resources.enter_context(process)
        self.started[part] = process
        trial.record.onlooker.started(process.name, process.pid, process.argv)
        if part in ("client", "server", "proxy"):
            self._slow[part].admit(process)
            self._observation.watch(part, process)
        return process

    def killed_from_outside(self) -> str | None:
        """The first of them that was, in words."""
        return next((told for process in self.started.values() if (told := process.killed_from_outside())), None)

    def end(self) -> None:
        """End those that the trial is about, from client to server."""
        roles: tuple[study.Role, ...] = ("client", "proxy", "server")
        for role in roles:
            if role in self.started:
                self.started[role].end(_COUNTED_GRACE_S if self._trial.counted else _GRACE_S)
                self._observation.ended(role, self.started[role])

    def note_slow_cpu(self) -> None:
        """Book how slow the machines of the programs were."""
        found = {role: findings for role, each in self._slow.items() if (findings := each.findings())}
        self._trial.record.host["slow_cpu"] = found
