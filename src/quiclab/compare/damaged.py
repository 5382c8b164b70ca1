# SPDX-License-Identifier: Apache-2.0
"""Damaged trials, their files no longer whole: they have no result, and that is said."""

from __future__ import annotations

import polars as pl

from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable
from quiclab.store.layout import DAMAGED

_NAMED = 5


def damaged_trials(study: Study) -> pl.DataFrame:
    """Rows of `trials`, in the order of cells and blocks."""
    return study.trials.filter(pl.col("status") == DAMAGED).sort("cell_id", "block", "arm")


def damage_notes(study: Study) -> list[str]:
    """Sentences for terminal and page about damaged trials: how many there are, and the first few by name."""
    found = damaged_trials(study)
    if not found.height:
        return []
    named = [
        f"{row['trial_id']} ({row['arm']} in {row['cell_id']}, block {row['block']}: {row['reason']})"
        for row in found.head(_NAMED).iter_rows(named=True)
    ]
    more = f" and {found.height - _NAMED} more" if found.height > _NAMED else ""
    blocks = found.select("cell_id", "block").unique().height
    return [
        f"Damaged since they were verified, and without a result: {number_text.counted(found.height, 'trial')}, so "
        f"that {number_text.counted(blocks, 'block')} gave no pair: {'; '.join(named)}{more}."
    ]


def damage_table(study: Study) -> TextTable:
    """Return the table of all damaged trials."""
    columns = ("trial_id", "cell_id", "arm", "block", "reason")
    return TextTable(
        "Damaged trials",
        "Verified when they were run; since then some of their files were lost or changed. They have no result, their "
        "block has no pair, and they are not run again: what can be drawn anew by removing a file is no result.",
        ("trial", "cell", "arm", "block", "what is wrong"),
        tuple(tuple(map(str, row)) for row in damaged_trials(study).select(columns).rows()),
        "The files of every verified trial are as they were kept.",
    )
