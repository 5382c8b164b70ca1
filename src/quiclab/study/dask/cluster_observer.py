# SPDX-License-Identifier: Apache-2.0
"""Events of a study that a cluster runs, beside those that every run has."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.model.plan_row import PlanRow
from quiclab.study.observer import Observer


class ClusterObserver(Observer):
    """Told of workers and of what they send. This one does nothing."""

    def waiting(self, where: str) -> None:
        """A cluster is asked for, and then its workers."""

    def joined(self, worker: str) -> None:
        """A worker was examined and gets blocks."""

    def left_out(self, worker: str, reasons: Sequence[str]) -> None:
        """A worker gets no blocks, or none any more, for these reasons."""

    def lost(self, worker: str, rows: Sequence[PlanRow]) -> None:
        """A worker is gone with the block that it ran, which is granted to another one."""

    def no_result(self, worker: str, rows: Sequence[PlanRow], reason: str) -> None:
        """Tells that what a worker sent for a block does not count."""

    def not_for_workers(self, blocks: int) -> None:
        """Blocks are left that stayed void, or had begun in a run without workers: no worker is given
        them."""
