# SPDX-License-Identifier: Apache-2.0
"""The check of the machine before a study's first trial: how late its link is and how long programs wait, what the
reason seems to be, and the one command that would help most.

It takes two seconds, and keeps nobody from running the study: trials that are disturbed are repeated anyway.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.processor_use import slow_governor
from quiclab.lab.testbed.timekeeping import Timekeeping, keep_time, short_time
from quiclab.model.errors import HostError, VoidError
from quiclab.model.study import LEAST_TOLERATED, Study
from quiclab.model.units import Share
from quiclab.spec.link import lateness_bounds
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.layout import MACHINE_CHECK, StudyDir

LEAST_TRIALS = 10
"""Trials that are left from which on a study is worth the two seconds."""
_MUCH_WAITED = 0.1
"""Share of its time that a busy program may wait for a processor before trials are likely to be disturbed, where the
laboratory may add `LEAST_TOLERATED` to them."""
_MUCH_USED = 0.1
"""Processors that other programs may use before they count as a reason."""
_MUCH_STOLEN = 0.02
"""Processors that a hypervisor may keep back before it counts as a reason."""
_SHARE = 0.1
"""Part of what others use, and of what a program waits, that a reason must have at least."""


@dataclass(frozen=True)
class MachineCheck:
    """Result of two seconds with a link and a busy program."""

    measured: Timekeeping
    backend: Backend
    tun_problem: str | None
    """Reason why TUN cannot be used; None where it can."""
    governor: str | None
    """Governor that saves power at the cost of speed, if there is one."""
    bound_ns: int
    """Lateness that the study's least tolerant path bears, where the laboratory may add `LEAST_TOLERATED`."""
    begun: bool
    """True for a study that has trials already: it stays with its backend."""
    tolerated: Share = LEAST_TOLERATED
    """Share of a trial's time that the laboratory may add by the study's limits."""

    @property
    def _wider(self) -> float:
        """Times by which the study tolerates more than it does at least without a limit of its own."""
        return self.tolerated.value / LEAST_TOLERATED.value

    @property
    def is_fine(self) -> bool:
        """True where neither the link nor a busy program waited long enough to disturb many trials."""
        return not self._link_is_late and not self._programs_wait

    @property
    def _link_is_late(self) -> bool:
        return self.measured.p99_ns > self._wider * self.bound_ns

    @property
    def _programs_wait(self) -> bool:
        return self.measured.waited > self._wider * _MUCH_WAITED

    @property
    def sentence(self) -> str:
        """Finding and remedy in one line; empty where the machine is fine."""
        if self.is_fine:
            return ""
        found = []
        if self._link_is_late:
            found.append(f"1 in 100 packets leaves the link {short_time(self.measured.p99_ns)} late")
        if self._programs_wait:
            found.append(f"a program waits {self.measured.waited:.0%} of its time for a processor")
        reason, remedy = self._reason_and_remedy
        return f"Some trials will be disturbed and repeated: {' and '.join(found)}{reason}. {remedy}"

    @property
    def _reason_and_remedy(self) -> tuple[str, str]:
        """Likely reason, and the remedy that helps most."""
        measured = self.measured
        waited = measured.waited if self._programs_wait else 0.0
        if measured.stolen > max(_MUCH_STOLEN, _SHARE * measured.others, _SHARE * waited):
            reason = f", as the hypervisor gives {measured.stolen:.2f} processors to other machines"
            return reason, "What helps: a machine with processors of its own"
        if measured.others > _MUCH_USED:
            reason = f", as other programs use {measured.others:.1f} of {measured.processors} processors"
            if measured.real_time == "none" and not self._programs_wait:
                return reason, "What helps: end them (`top` lists them), or `sudo quiclab run`"
            return reason, "What helps: end them (`top` lists them)"
        if self.governor is not None:
            reason = f", as the governor {self.governor} keeps processors slow"
            return reason, "What helps: `sudo cpupower frequency-set --governor performance`"
        if self._link_is_late and self.tun_problem is not None and self.backend == "veth" and not self.begun:
            return ", as /dev/net/tun is closed to this account", "What helps: `sudo chmod 666 /dev/net/tun`"
        if self._link_is_late and measured.real_time == "none":
            return "", "What helps: `sudo quiclab run`, which gives the link real-time priority"
        return "", "What helps: a machine with more processors"

    @property
    def document(self) -> dict[str, object]:
        """The check as host.json has it."""
        told = {**asdict(self.measured), "bound_ns": round(self._wider * self.bound_ns), "governor": self.governor}
        return told | {"tun_problem": self.tun_problem, "fine": self.is_fine, "told": self.sentence}

    @classmethod
    def before_study(cls, study: Study, backend: Backend, *, begun: bool) -> Self | None:
        """Check the machine for a study, in the sandbox; None where the link cannot be tried, which trials tell."""
        try:
            measured = keep_time(backend)
        except (HostError, VoidError):
            return None
        bounds = (bound.ns for path in study.paths for bound in lateness_bounds(path))
        return cls(measured, backend, tun_problem(), slow_governor(), min(bounds), begun, study.tolerated)


def keep_check(study_dir: StudyDir, check: MachineCheck) -> None:
    """Add the check to host.json, which is there."""
    told = read_object(study_dir.host) | {MACHINE_CHECK: check.document}
    write_atomically(study_dir.host, json.dumps(told, indent=1))
