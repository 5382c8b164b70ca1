# SPDX-License-Identifier: Apache-2.0
"""What of a study's plan has not been run: after a first look at a part of it, or an interruption."""

from __future__ import annotations

import polars as pl

from quiclab.compare.study import Study
from quiclab.model import number_text

_FEW = 4
"""Most cells that a sentence names."""


def unfinished_notes(study: Study) -> list[str]:
    """Say how much of the plan has been run, where that is not all of it; nothing of a study of named blocks or of a
    single trial."""
    planned = study.resolved.get("blocks")
    if not isinstance(planned, int) or study.resolved.get("only_blocks") or study.trials["trial_id"].n_unique() < 2:
        return []
    main = study.trials.filter(kind="main")
    cells = [
        f"{workload['name']}/{path['name']}" for path in study.items("paths") for workload in study.items("workloads")
    ]
    run = {
        str(cell): blocks
        for cell, blocks in main.group_by("cell_id").agg(pl.col("block").n_unique()).iter_rows()
        if cell in cells
    }
    short = [cell for cell in cells if run.get(cell, 0) < planned]
    if not short:
        return []
    done, whole = sum(min(blocks, planned) for blocks in run.values()), planned * len(cells)
    absent = [cell for cell in cells if cell not in run]
    told = f"Not finished: {done} of {number_text.counted(whole, 'planned block')} have run"
    if absent:
        few = len(absent) <= _FEW
        told += f"; not begun: {', '.join(absent) if few else number_text.counted(len(absent), 'cell')}"
    return [f"{told}. `quiclab run STUDY` runs the rest."]
