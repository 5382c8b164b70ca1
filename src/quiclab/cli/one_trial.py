# SPDX-License-Identifier: Apache-2.0
"""One trial inside the sandbox: it is reported step by step, and stays open for a look into it."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quiclab.cli.own_name import as_typed
from quiclab.lab.runner.commands import PORT, arm_of, path_of, workload_of
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.onlooker import Onlooker
from quiclab.lab.runner.places import address_of, front_place
from quiclab.lab.testbed.certificates import HOST
from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.model.errors import ExitCode
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir
from quiclab.study.one_trial import prepare_one, run_one

_STEPS = {
    "namespaces": "the namespaces are there",
    "link": "the link is up",
    "server_start": "the program that answers the client is listening",
    "warm_up": "it has answered the warm-up requests",
    "client_start": "the client is ready",
    "transfer": "the transfer is over",
    "link_stop": "the link has closed and given its account",
    "server_stop": "the servers have ended",
    "teardown": "nothing is left running",
}


@dataclass(frozen=True)
class Stay:
    """Action between the client's end and the link's."""

    shell_at: str | None
    """Place of the shell; None is no shell."""
    keep: bool
    """True if to wait for Enter."""
    host_proc: int
    """The caller's /proc, an open directory: only there have processes their numbers outside the sandbox."""


class _Narrator(Onlooker):
    def __init__(self, laboratory: Laboratory, row: PlanRow, stay: Stay) -> None:
        self._laboratory = laboratory
        self._row = row
        self._stay = stay
        self._begin = time.monotonic_ns()

    def say(self, text: str) -> None:
        """A line with the time since the trial began."""
        print(f"{(time.monotonic_ns() - self._begin) / 1e9:7.3f} s  {text}", flush=True)

    def started(self, what: str, pid: int, argv: tuple[str, ...]) -> None:
        self.say(f"{what} is started as process {pid} of the sandbox: {shlex.join(argv)}")

    def phase(self, name: str, ns: int) -> None:
        self.say(f"{_STEPS.get(name, name)} ({ns / 1e6:.1f} ms)")

    def began(self) -> None:
        self.say("go: the client begins")

    def stay(self, namespaces: Mapping[str, NetworkNamespace], raw: Path) -> None:
        if self._stay.shell_at is not None:
            self._shell(namespaces[self._stay.shell_at], raw)
        elif self._stay.keep:
            self._wait_for_enter(namespaces, raw)

    def _shell(self, namespace: NetworkNamespace, raw: Path) -> None:
        study, row = self._laboratory.study, self._row
        address = address_of(front_place(arm_of(study, row), path_of(study, row)), path_of(study, row).ip_version)
        workload = workload_of(study, row)
        url = f"https://{HOST}:{PORT}/" + ("" if workload.page else workload.object_names[0])
        added = {"QUICLAB_SERVER": address, "QUICLAB_URL": url, "QUICLAB_LOGS": str(raw)}
        for name, value in added.items():
            self.say(f"{name}={value}")
        shell = os.environ.get("SHELL") or "/bin/sh"
        self.say(f"{shell} in the namespace of the {self._stay.shell_at}; link and servers stay until it ends")
        # The user's own terminal, hence no file for its output; root of the sandbox, to see everybody's sockets.
        process = Process(
            "the shell", [shell, "-i"], os.environ | added, namespace, work_dir=raw, output=None, ordinary_id=None
        )
        with process:
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the shell's affair
            process.wait(None)
            signal.signal(signal.SIGINT, before)
        self.say("the shell has ended")

    def _wait_for_enter(self, namespaces: Mapping[str, NetworkNamespace], raw: Path) -> None:
        own_pid = os.readlink("self", dir_fd=self._stay.host_proc)
        self.say(f"link and servers stay; the logs so far: /proc/{own_pid}/root{raw}")
        for place, namespace in namespaces.items():
            enter = f"nsenter --target {own_pid} --user --preserve-credentials --net=/proc/{own_pid}/fd/{namespace.fd}"
            self.say(f"into the {place}, from another terminal: {enter}")
        self.say("Enter ends it")
        sys.stdin.readline()


def run_and_tell(study: Study, study_dir: StudyDir, row: PlanRow, wanted: Backend | None, stay: Stay) -> int:
    """Run the trial, judge it, keep it; exit code 0, or 1 where it does not count. Raises HostError."""
    prepared = prepare_one(study, study_dir, row, wanted)
    link = f"link: {prepared.backend} ({prepared.why})"
    print(f"trial {row.trial_id}: {row.cell_id}, arm {row.arm}, block {row.block}; {link}", flush=True)
    narrator = _Narrator(prepared.laboratory, row, stay)
    kept = run_one(prepared, narrator)
    status, reason = kept.attempt.status, kept.attempt.reason
    narrator.say(f"verdict: {status}" + (f": {reason}" if reason else ""))
    for fact, value in read_object(kept.folder / "trial.json")["proof"].items():
        if isinstance(value, str | int | float) and value not in ("", "unproven"):
            print(f"           {fact}: {value}")
    print(as_typed(f"logs: {kept.folder}\ntables and a report of it: quiclab report {study_dir.root}"), flush=True)
    return ExitCode.OK if status == "verified" else ExitCode.TRIALS_FAILED
