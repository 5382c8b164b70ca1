# SPDX-License-Identifier: Apache-2.0
"""Number of trials that may run side by side: found by what the machine does to them, never by their results.

The first trial of an arm in a cell runs alone, and shows how long its programs wait for a processor when nothing else
runs. Beside others they wait longer, and the link may be later. Both are looked at over a few trials of each arm in a
cell: while they are calm, one trial more may run at a time; when they are not, one less. Each cell has a number of its
own, because a short transfer is disturbed by what a long one does not notice; and of its arms the one that is disturbed
most decides, because one that is disturbed more than the other looks slower than it is.

What longer waits may cost is estimated: a round trip has about four wake-ups that wait for one another, two at each
end, and so have the handshakes some more; each of them comes later by what a wake-up waits more than alone. Others,
such as of a client that reads a packet while the link still sends the next ones, cost nothing. Time in which any
task of the machine waited for memory counts whole. Waits for disks do not count: what runs beside trials writes there,
while the logs of a running trial are in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

from quiclab.model.host_findings import Usage
from quiclab.model.plan_row import PlanRow
from quiclab.model.trial_record import TrialRecord

CALM, BUSY = 0.003, 0.005
"""Mean share of their transfer that trials of an arm may take longer than alone, by that estimate: up to which one more
trial may run, and beyond which one less does. The estimate is at least what trials really take longer, and these are
to be the same, whatever runs beside them: to within one per cent, and to within a fifth of the standard deviation of
pairs, which was three per cent in the steadiest cell with loss that was measured."""
LATE = 0.5
"""Mean share of the bound of the link's lateness up to which one more trial may run; beyond the bound a trial is
void."""
_OF_A_ROUND_TRIP, _OF_HANDSHAKES = 2, 20
"""Wake-ups of a program that others wait for."""
_OF_A_VOID = 0.015
"""Weight of a void trial in that mean: one of four may be anything's fault, two are too many."""
_LEAST_TRIALS = 4
"""Trials of each arm that are looked at together, at least."""
_FIRST = 2
_TRY_AGAIN = 100
"""Trials after which a number that was too many is tried again: the machine may have been busy with something else."""

ArmInCell = tuple[str, str, str]
"""Workload, path, and arm of the spec."""


def arm_in_cell(row: PlanRow) -> ArmInCell:
    """Group of trials that a trial is compared with that ran alone; trials of the A/A control are like those of the
    arm."""
    return row.workload, row.path, row.arm_name


@dataclass(frozen=True)
class Waits:
    """Waits of one program for a processor during the transfer, all threads together."""

    total_ns: int
    wake_ups: int
    """Number of times that a thread got a processor."""


@dataclass(frozen=True)
class Strain:
    """Strain that the machine put on one trial."""

    waits: Mapping[str, Waits]
    """Waits of each program, by its name."""
    transfer_ns: int
    rtt_ns: int
    """Round trip of the path without queues."""
    late: float
    """p99 of the link's lateness, as a share of its bound."""
    memory_ns: int = 0
    """Time of the transfer in which some task of the machine waited for memory."""
    void: bool = False

    def longer_than(self, alone: Mapping[str, float]) -> float:
        """Estimated share of the transfer by which it took longer than alone, where a wake-up of a program waited so
        many ns (`alone`)."""
        longer_ns = float(self.memory_ns)
        awaited = _OF_HANDSHAKES + _OF_A_ROUND_TRIP * self.transfer_ns / max(1, self.rtt_ns)
        for name, waits in self.waits.items():
            each_ns = waits.total_ns / max(1, waits.wake_ups) - alone.get(name, 0.0)
            longer_ns += each_ns * min(awaited, waits.wake_ups)
        return longer_ns / max(1, self.transfer_ns)


def strain_of(trial: TrialRecord, rtt_ns: int, bound_ns: int) -> Strain:
    """Strain of a trial by its record; `bound_ns` of the lateness of its first link."""
    waits = {}
    for program, cost in trial.host.cost.items():
        used, total_ns = cost.transfer or Usage(), cost.run_delay.sum_ns
        if total_ns is not None:
            waits[program] = Waits(total_ns, int((used.voluntary_switches or 0) + (used.involuntary_switches or 0)))
    p99_ns, memory_ns = trial.link.lateness.get("p99_ns", 0), trial.host.stalled_ns.get("memory", 0)
    transfer_ns = trial.time_ns.get("transfer", 0)
    return Strain(waits, transfer_ns, rtt_ns, p99_ns / bound_ns, int(memory_ns), trial.status == "void")


@dataclass
class Guard:
    """The number of trials beside which one of a cell may run, itself included, `most` at most."""

    most: int
    at_once: int = field(init=False)
    _alone: dict[ArmInCell, dict[str, list[float]]] = field(default_factory=dict, init=False)
    _seen: dict[ArmInCell, list[tuple[float, float]]] = field(default_factory=dict, init=False)
    """Additional time by estimate, and lateness, of each trial since the number was looked at."""
    _too_many: int | None = field(default=None, init=False)
    _since_too_many: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.at_once = min(_FIRST, self.most)

    def knows(self, arm: ArmInCell) -> bool:
        """True if a trial of it ran alone."""
        return arm in self._alone

    def ran_alone(self, arm: ArmInCell, strain: Strain) -> None:
        """Learn from a trial beside which nothing ran."""
        if not strain.void:
            waits = self._alone.setdefault(arm, {})
            for program, waited in strain.waits.items():
                waits.setdefault(program, []).append(waited.total_ns / max(1, waited.wake_ups))

    def ran_beside_others(self, arm: ArmInCell, strain: Strain) -> bool:
        """Learn from a trial beside others. True: `at_once` has changed."""
        beyond = _OF_A_VOID if strain.void else self._beyond(arm, strain)
        self._seen.setdefault(arm, []).append((beyond, strain.late))
        self._since_too_many += 1
        if any(len(trials) < max(_LEAST_TRIALS, self.at_once) for trials in self._seen.values()):
            return False
        longer = max(fmean(longer for longer, _ in trials) for trials in self._seen.values())
        late = max(fmean(late for _, late in trials) for trials in self._seen.values())
        self._seen.clear()
        if longer > BUSY and self.at_once > 1:
            self._too_many, self._since_too_many = self.at_once, 0
            self.at_once -= 1
            return True
        if longer <= CALM and late <= LATE and self._may_rise():
            self.at_once += 1
            return True
        return False

    def _may_rise(self) -> bool:
        if self._since_too_many > _TRY_AGAIN:
            self._too_many = None
        return self.at_once < self.most and (self._too_many is None or self.at_once + 1 < self._too_many)

    def _beyond(self, arm: ArmInCell, strain: Strain) -> float:
        waits = self._alone.get(arm)
        return 0.0 if waits is None else strain.longer_than({name: fmean(each) for name, each in waits.items()})


@dataclass
class Guards:
    """The guards of all cells of a study."""

    most: int
    _cells: dict[tuple[str, str], Guard] = field(default_factory=dict, init=False)

    def guard_of(self, row: PlanRow) -> Guard:
        """The guard of a trial's workload and path."""
        return self._cells.setdefault((row.workload, row.path), Guard(self.most))

    @property
    def highest(self) -> int:
        """The largest number that any cell allows."""
        return max((guard.at_once for guard in self._cells.values()), default=min(_FIRST, self.most))
