# SPDX-License-Identifier: Apache-2.0
"""The study of two builds in the same blocks, as the two studies that it stands for: OLD and NEW."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.compare.study import Study


def two_builds(study: Study, old: str, new: str) -> tuple[Study, Study]:
    """Return the arms of OLD and those of NEW, whose names end with these words, under the names that they have in both
    specs; without A/A cells."""
    return _only(study, old), _only(study, new)


def _only(study: Study, suffix: str) -> Study:
    mine = (pl.col("kind") == "main") & pl.col("arm").str.ends_with(suffix)
    arm = pl.col("arm").str.strip_suffix(suffix)
    baseline = arm.first().alias("baseline_arm")
    trials = study.trials.filter(mine).with_columns(baseline, arm)
    arms = [
        table | {"name": name.removesuffix(suffix)}
        for table in study.tables("arms")
        if (name := str(table["name"])).endswith(suffix)
    ]
    return replace(study, trials=trials, resolved=study.resolved | {"arms": arms})
