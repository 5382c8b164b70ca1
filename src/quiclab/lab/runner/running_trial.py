# SPDX-License-Identifier: Apache-2.0
"""A trial while it runs: what was asked for, where its files go, and what trial.json will say of it."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from quiclab.lab.runner.commands import Part, arm_of, path_of, workload_of
from quiclab.lab.runner.jails import Jails, role_of
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.onlooker import NOBODY, Onlooker
from quiclab.model import study
from quiclab.model.plan_row import PlanRow


@dataclass
class Record:
    """Content of trial.json to be."""

    onlooker: Onlooker = NOBODY
    phases: dict[str, int] = field(default_factory=dict)
    """Step → how long it took, in nanoseconds."""
    host: dict[str, object] = field(default_factory=dict)
    failure: str | None = None
    void: str | None = None
    """Fault that spoiled the trial and was no endpoint's doing."""
    logs_spoiled: str | None = None
    """Damage that a program of the trial did to the folder of its logs, so that these tell nothing."""
    client_exit_code: int | None = None
    address_change: dict[str, object] | None = None
    competition: dict[str, object] = field(default_factory=dict)
    client_reports: bool = False
    mark: int = field(default_factory=time.monotonic_ns)

    def phase(self, name: str) -> None:
        """Book the time since the last call under `name`."""
        now = time.monotonic_ns()
        self.phases[name] = self.phases.get(name, 0) + now - self.mark
        self.onlooker.phase(name, now - self.mark)
        self.mark = now


@dataclass(frozen=True)
class RunningTrial:
    """State that the steps of a trial share."""

    laboratory: Laboratory
    row: PlanRow
    raw: Path
    """Folder of the logs: the laboratory's at once, those of programs when all have ended."""
    record: Record
    resources: ExitStack
    """Everything that is opened, and closed in the opposite order when the trial ends."""
    jails: Jails
    """Jails of the roles, with the files that their programs see."""
    counted: bool = False
    """True if the system calls of its programs are counted."""

    @property
    def home(self) -> Path:
        """Folder of the programs' other files, as they name it."""
        return self.raw.parent / "home"

    def real(self, part: Part, shown: Path) -> Path:
        """Path on disk of a file that a part of the trial knows as `shown`."""
        return self.jails.jail(role_of(part)).real(shown)

    @property
    def arm(self) -> study.Arm:
        """The arm under test."""
        return arm_of(self.laboratory.study, self.row)

    @property
    def path(self) -> study.Path:
        """The path between client and server."""
        return path_of(self.laboratory.study, self.row)

    @property
    def workload(self) -> study.Workload:
        """Workload that is transferred."""
        return workload_of(self.laboratory.study, self.row)
