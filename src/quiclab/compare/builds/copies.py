# SPDX-License-Identifier: Apache-2.0
"""Trials that two studies share, because one is a copy of the other or was continued from one: measured only once."""

from __future__ import annotations

import polars as pl

from quiclab.compare.study import Study


def shared_trials(old: Study, new: Study) -> int:
    """Number of trials with the same id and, to the last digit, the same value of every metric in both studies.

    The id alone says nothing, since it follows from the spec. Two runs of one trial never agree in all their metrics:
    many of them are times in nanoseconds.
    """
    before, after = (study.metrics.filter(pl.col("value").is_not_null()) for study in (old, new))
    both = before.join(after, on=("trial_id", "name"), how="full", suffix="_new", coalesce=True)
    same = (pl.col("value") == pl.col("value_new")).fill_null(value=False)
    return both.group_by("trial_id").agg(same.all().alias("same")).filter(pl.col("same")).height
