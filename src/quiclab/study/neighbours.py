# SPDX-License-Identifier: Apache-2.0
"""Other quiclab processes that measured on this machine while trials of a study ran, for its host.json."""

from __future__ import annotations

import json
from collections.abc import Sequence

from quiclab.lab.testbed.neighbours import current
from quiclab.model.plan_row import PlanRow
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.layout import BESIDE, StudyDir
from quiclab.study.observer import Beginning, Observer


class NeighbourWatch(Observer):
    """Looks for others before the first block and after each, and writes down those that were there."""

    def __init__(self, study_dir: StudyDir) -> None:
        self._study_dir = study_dir

    def began(self, beginning: Beginning) -> None:  # noqa: ARG002
        self._sample()

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:  # noqa: ARG002
        self._sample()

    def _sample(self) -> None:
        own = current()
        if own is None or not (others := own.others()):
            return
        told = read_object(self._study_dir.host)
        before = str(told.get(BESIDE, ""))
        new = [str(each) for each in others if str(each) not in before.split(", ")]
        if new:
            told[BESIDE] = ", ".join([*([before] if before else []), *new])
            write_atomically(self._study_dir.host, json.dumps(told, indent=1))
