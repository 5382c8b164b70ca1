# SPDX-License-Identifier: Apache-2.0
"""Transfers that no trial can end in time: their bytes alone take longer than `limits.trial`."""

from __future__ import annotations

from quiclab.model.study import Direction, Path, Study, Workload
from quiclab.model.units import Bitrate


def slow_warnings(study: Study) -> list[str]:
    """Say which workload no trial can move over which path, by its bytes and the rate of the slowest link; nothing of
    paths without a fixed rate, and of transfers that end by the clock."""
    found = []
    for path in study.paths:
        for workload in study.workloads:
            rate = _slowest(path, workload)
            seconds = 0.0 if rate is None else 8 * workload.total.bytes / rate.bit_per_s
            if workload.video is None and workload.page is None and seconds > study.limits.trial.s:
                found.append(
                    f"Workload {workload.name} over path {path.name}: its bytes alone take {seconds:,.0f} s at {rate}, "
                    f"and limits.trial is {study.limits.trial}: every trial will fail. Raise that limit, or ask for "
                    "less over a faster path."
                )
    return found


def _slowest(path: Path, workload: Workload) -> Bitrate | None:
    """Smallest fixed rate in the direction of the bodies; None where no link has one."""
    fixed = [_fixed(link.up if workload.upload else link.down) for link in path.links]
    return min((each for each in fixed if each is not None), key=lambda rate: rate.bit_per_s, default=None)


def _fixed(direction: Direction) -> Bitrate | None:
    """Rate of a direction whose rate never changes."""
    return direction.rate if isinstance(direction.rate, Bitrate) and not direction.schedule else None
