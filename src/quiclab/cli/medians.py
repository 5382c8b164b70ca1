# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --medians`: the median so far of each arm in each cell, in the terminal's view of a run.

What is shown is kept as a look (docs/decisions/0003-what-decides.md) when it has been seen.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

from quiclab.cli.tally import Place, place_of
from quiclab.compare.analyse import usual_metric_of
from quiclab.model import number_text
from quiclab.model.plan_row import PlanRow
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir
from quiclab.store.look_records import InterimLook, keep_look
from quiclab.store.resolved_form import read_spec
from quiclab.study.observer import Observer
from quiclab.study.tables_on_disk import kept_metrics


class Medians(Observer):
    """Medians over the trials of blocks that are over and not void, by the metric that the study compares; a trial
    without a value ranks worst."""

    def __init__(self, study_dir: StudyDir) -> None:
        """Read what the study in this directory compares."""
        self._study_dir = study_dir
        self._spec = read_spec(read_object(study_dir.resolved), study_dir.resolved)
        self._metric = usual_metric_of(self._spec)
        self._values: defaultdict[Place, dict[str, float]] = defaultdict(dict)
        self._unit, self._worst = "", math.inf
        self._blocks: Counter[str] = Counter()
        self._new = False
        self.shown: dict[Place, str] = {}
        """Text to show of each arm in each cell that has a value."""

    @property
    def heading(self) -> str:
        """Name of the metric, without the unit, which stands at each value."""
        return self._metric.removesuffix("_ms").removesuffix("_bit_per_s")

    def running(self, row: PlanRow) -> None:  # noqa: ARG002 - what was over before has been seen by now
        self._remember()

    def over(self) -> None:
        self._remember()

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        if void:
            return
        for row in block:
            self._values[place_of(row)][row.trial_id] = self._value(row.trial_id)
        if block[0].kind == "main":
            self._blocks[block[0].cell_id] += 1
            self._new = True
        for place in {place_of(row) for row in block}:
            middle = statistics.median(self._values[place].values())
            self.shown[place] = number_text.quantity(middle if math.isfinite(middle) else math.inf, self._unit)

    def _value(self, trial_id: str) -> float:
        found = kept_metrics(self._study_dir, trial_id)
        rows = [] if found is None else found.filter(name=self._metric).rows(named=True)
        if not rows or rows[0]["value"] is None:
            return self._worst
        self._unit, self._worst = rows[0]["unit"], math.inf if rows[0]["better"] == "lower" else -math.inf
        return float(rows[0]["value"])

    def _remember(self) -> None:
        planned = self._spec.planned_blocks
        if not self._new or planned is None:
            return
        self._new = False
        look = InterimLook(
            datetime.now(UTC).isoformat(timespec="seconds"),
            planned,
            dict(sorted(self._blocks.items())),
            0.05 if self._spec.alpha is None else float(self._spec.alpha),
            (self._metric,),
            self._spec.matters_pct,
        )
        keep_look(self._study_dir.root, look)
