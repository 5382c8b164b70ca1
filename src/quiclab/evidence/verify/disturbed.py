# SPDX-License-Identifier: Apache-2.0
"""The laboratory's share in a trial's time beside what the study tolerates.

`accounting.disturbance` estimates it; decision 4 (docs/decisions/0004-how-late-is-too-late.md) says how well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quiclab.model.trial_record import EstimatedDisturbance, RecordedDisturbance, TrialRecord

ROUGHLY = 0.1
"""Share that is tolerated at least where the critical path is not known: what no path can exceed is far more than what
was added."""
SPOILED = 0.2
"""Share that is tolerated at least in a trial that failed, in whatever way: beyond, the failure may be the laboratory's
fault."""
PREFIX = "disturbed: "
"""Begin of the reason of a trial to which the laboratory added too much time."""
_PARTS = {
    "link": "other programs used the CPU, so that packets left the link late",
    "repeats": "something was held up until it was taken for lost",
}


def with_bound(trial: TrialRecord, found: EstimatedDisturbance) -> RecordedDisturbance:
    """A disturbance with the time that the laboratory may have added to a trial that counts."""
    import msgspec  # `quiclab status` needs the prefix alone

    from quiclab.model.trial_record import RecordedDisturbance

    return RecordedDisturbance(**msgspec.structs.asdict(found), bound_ns=_bound_ns(trial, found))


def _bound_ns(trial: TrialRecord, found: EstimatedDisturbance) -> int:
    least = [float(trial.tolerated)]
    if found.by == "bound":
        least.append(ROUGHLY)
    if trial.own_failure is not None:
        least.append(SPOILED)
    return round(max(least) * found.time_ns)


def disturbance_problem(trial: TrialRecord) -> str | None:
    """Say how much of a trial's time the laboratory added, and by what, where the study does not tolerate that.

    None also where nothing is known of it.
    """
    found = trial.disturbance
    if found is None or found.cost_ns <= _bound_ns(trial, found):
        return None
    worst = max(found.parts, key=lambda part: found.parts[part].cost_ns)
    why = _PARTS.get(worst, f"the {worst} waited for a processor")
    time_ns, cost_ns = found.time_ns, found.cost_ns
    most = "at most " if found.by == "bound" else ""
    return f"{PREFIX}this machine added {most}{cost_ns / 1e6:.1f} ms ({100 * cost_ns / time_ns:.1f} %): {why}"
