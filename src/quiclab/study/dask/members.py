# SPDX-License-Identifier: Apache-2.0
"""Workers of a cluster: examined before they get a block, and left out for a reason that is told."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab import __version__
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir
from quiclab.study.dask import remote
from quiclab.study.dask.cluster import Cluster, Task
from quiclab.study.dask.cluster_observer import ClusterObserver
from quiclab.study.merge import differences

_FAILURES_IN_A_ROW = 2
"""Blocks that end in an error, one after the other, for which a worker is left out. Failed and void trials are results
and no errors."""

_LONGEST_NAME = 64
"""Most characters of a machine's name in names of files; Linux allows a host as many."""


@dataclass
class Member:
    """A worker, since it was first seen."""

    address: str
    number: int
    name: str
    """Machine and address, for people."""
    machine: str = ""
    """Name of its machine, as a file name."""
    examining: Task | None = None
    is_in: bool = False
    """True if it may have blocks."""
    ends_s: float | None = None
    """Time at which it will end, by the monotonic clock of this process."""
    failures: int = 0
    """Blocks in a row that ended in an error."""

    def has_time_for(self, seconds: float) -> bool:
        """True if it will be there that long."""
        return self.ends_s is None or time.monotonic() + seconds < self.ends_s


class Members:
    """The workers that there are, and those that may have blocks."""

    def __init__(
        self,
        cluster: Cluster,
        study_dir: StudyDir,
        files: Mapping[str, bytes],
        backend: str | None,
        observer: ClusterObserver,
        *,
        anyway: bool,
    ) -> None:
        """Workers must have the programs of those that ran the study before; the first one that is in decides for a new
        study. With `anyway`, arms may lack their programs."""
        self._cluster = cluster
        self._files = dict(files)
        self._observer = observer
        self._anyway = anyway
        self._known: dict[str, Member] = {}
        self._takes_work: dict[str, bool] = {}
        self._seen_ever = 0
        self.facts: Mapping[str, Any] | None = read_object(study_dir.host) if study_dir.host.exists() else None
        """Facts of the machines of this study that all must share, as in host.json."""
        self._backend = backend or (self.facts or {}).get("link_backend")
        self.cannot_run: Mapping[str, str] = {}
        """Arms whose programs workers lack, each with the reason."""

    def refresh(self) -> dict[str, Member]:
        """See which workers there are, and have new ones examined. Returns those that are gone, by address."""
        self._takes_work = self._cluster.workers()
        gone = {address: self._known.pop(address) for address in self._known.keys() - self._takes_work.keys()}
        for address in self._takes_work.keys() - self._known.keys():
            self._seen_ever += 1
            member = Member(address, self._seen_ever, address)
            name = f"quiclab-examine-{self._seen_ever}-{time.time_ns()}"
            member.examining = self._cluster.ask(address, name, remote.examine, self._files, self._backend)
            self._known[address] = member
        for member in self._known.values():
            if member.examining is not None and member.examining.is_over:
                self._examined(member, member.examining)
        return gone

    def free(self, busy: set[str]) -> list[Member]:
        """Workers that may have a block, take work and have none."""
        return [
            each
            for address, each in self._known.items()
            if each.is_in and self._takes_work[address] and address not in busy
        ]

    @property
    def hopeless(self) -> bool:
        """True if workers are there and none of them can be expected to take a block, now or later."""
        return bool(self._known) and not any(each.is_in or each.examining for each in self._known.values())

    @property
    def nobody(self) -> bool:
        """True if no worker is there, or all that are in are about to go."""
        return not any(
            each.examining is not None or (each.is_in and self._takes_work[address])
            for address, each in self._known.items()
        )

    def failed(self, member: Member, reason: str) -> None:
        """Note that a block ended in an error; after some in a row the worker is left out."""
        member.failures += 1
        if member.failures >= _FAILURES_IN_A_ROW and member.is_in:
            self.leave_out(member, f"{member.failures} blocks in a row ended in an error, the last one with: {reason}")

    def leave_out(self, member: Member, *reasons: str) -> None:
        """Give a worker no more blocks."""
        member.is_in = False
        self._observer.left_out(member.name, reasons)

    def _examined(self, member: Member, task: Task) -> None:
        member.examining = None
        try:
            told: Mapping[str, Any] = task.answer()
        except Exception as error:  # whatever Python there lacks, or Dask says in its place
            self.leave_out(member, f"it could not be examined: {type(error).__name__}: {error}")
            return
        finally:
            task.drop()
        machine = str(told["machine"])
        member.name = f"{machine} ({member.address})"
        member.machine = _as_file_name(machine)
        if told["left_s"] is not None:
            member.ends_s = time.monotonic() + float(told["left_s"])
        if problems := self._problems(told):
            self.leave_out(member, *problems)
            return
        if self.facts is None:
            self.facts, self._backend = told["host"], told["host"].get("link_backend")
        self.cannot_run = told["cannot_run"]
        member.is_in = True
        self._observer.joined(member.name)

    def _problems(self, told: Mapping[str, Any]) -> list[str]:
        """Reasons why a worker cannot run trials of this study."""
        if told["quiclab"] != __version__:
            return [f"quiclab is {told['quiclab']} there, and {__version__} here: install the same one"]
        if told["problems"]:
            return list(told["problems"])
        lacking = [] if self._anyway else [f"arm {arm!r}: {reason}" for arm, reason in told["cannot_run"].items()]
        return lacking or list(differences(told["host"], self.facts or told["host"]))


def _as_file_name(machine: str) -> str:
    """Name of a machine as part of a file name, however long and of whatever characters it is."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_.") else "-" for each in machine)
    return plain[:_LONGEST_NAME].strip(".") or "worker"
