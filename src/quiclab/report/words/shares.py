# SPDX-License-Identifier: Apache-2.0
"""Shares of the link as text: one line for each cell with a competition and each arm that was measured."""

from __future__ import annotations

import polars as pl

from quiclab.compare.study import Study, read_table
from quiclab.model import number_text

FLOWS = {"flow": pl.String, "background": pl.String, "share_pct": pl.Float64}


def shares(study: Study) -> list[str]:
    """Median shares of the downloads over the verified trials; empty for a study without competitions."""
    if not any(each.competition for each in study.workloads.values()):
        return []
    lines = []
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    for (path, workload, arm), trials in verified.sort("position").group_by(
        "path", "workload", "arm", maintain_order=True
    ):
        found = [_trial_shares(study, trial_id) for trial_id in trials["trial_id"]]
        rows = pl.concat([pl.DataFrame(schema=FLOWS), *found]).drop_nulls("share_pct")
        if rows["flow"].n_unique() < 2:
            continue
        middle = rows.group_by("flow", maintain_order=True).agg(pl.col("share_pct").median())
        each = ", ".join(f"{flow} {share:.0f} %" for flow, share in middle.iter_rows())
        lines.append(f"{path}, {workload}, {arm}: {each} ({number_text.counted(len(found), 'trial')}).")
    return sorted(lines)


def _trial_shares(study: Study, trial_id: str) -> pl.DataFrame:
    return read_table(study.directory / "tables" / "flows" / f"{trial_id}.parquet", FLOWS, [])
