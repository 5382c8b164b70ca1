# SPDX-License-Identifier: Apache-2.0
"""Trials that may run beside others, and those that need the whole machine."""

from __future__ import annotations

from quiclab.lab.runner.commands import arm_of, path_of, workload_of
from quiclab.model.plan_row import PlanRow
from quiclab.model.units import Bitrate
from quiclab.spec.link import busiest_rate
from quiclab.spec.model import Study

_LIGHT = Bitrate(20_000_000)
"""Rate up to which a trial counts once."""
_FASTEST = Bitrate(100_000_000)
"""Rate beyond which a trial runs alone: at 200 Mbit/s the link of one never sleeps."""


def weight_of(study: Study, row: PlanRow) -> int | None:
    """How many trials at up to 20 Mbit/s a trial counts as; None runs alone.

    Browsers and players have many processes, programs on a slow processor need a quiet one, and competitors are as many
    programs as they are flows.
    """
    workload, arm, rate = workload_of(study, row), arm_of(study, row), busiest_rate(path_of(study, row))
    if workload.kind != "object" or workload.competition is not None or rate is None or rate > _FASTEST:
        return None
    if any(program.cpu is not None for _, program, _ in arm.programs()):
        return None
    return max(1, -(-rate.bit_per_s // _LIGHT.bit_per_s))
