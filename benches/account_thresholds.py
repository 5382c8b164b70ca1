# SPDX-License-Identifier: Apache-2.0
"""Change of accounts' sums when each of their thresholds is halved and doubled, on trials that were recorded.

`benches/account_thresholds.py STUDY... [--blocks N]`: one row for each threshold, factor and arm, of those that move
anything. What moves is half the sum of all differences by *why* and *what* together: time that has another label. A
threshold that matters little moves little either way.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quiclab.compare.study import read_record
from quiclab.compare.study_tables import OpenedStudy
from quiclab.evidence.metrics import Evidence
from quiclab.model.tables import TABLES
from quiclab.why import account_shares
from quiclab.why.account import account_table, kernel, timers, window

_SHARED = "quiclab.why.account."
THRESHOLDS: Mapping[str, tuple[Any, str]] = {
    "prompt, 1 ms": (None, "PROMPT_NS"),
    "spread of delay, 0.05 ms": (None, "ROUNDING_NS"),
    "timer to packet, 2 ms": (timers, "_NEAR_NS"),
    "loss to smaller window, 5 ms": (window, "_NEAR_NS"),
    "age of a kernel's sample, 20 ms": (kernel, "_NEAR_NS"),
}
"""Threshold → its module, or None where all modules of the room share it, and its name."""
FACTORS = (0.5, 2.0)
Sums = dict[str, float]


@dataclass(frozen=True)
class Moved:
    """Changes of one trial with another threshold."""

    share_pct: float
    most: tuple[str, str, float]
    """The label that loses most, the one that gains most, and ms of the smaller of both."""


@contextmanager
def scaled(module: Any, name: str, factor: float) -> Iterator[None]:
    """Let a threshold be another one meanwhile."""
    places = [module] if module else [each for key, each in sys.modules.items() if key.startswith(_SHARED)]
    places = [each for each in places if hasattr(each, name)]
    old = getattr(places[0], name)
    for each in places:
        setattr(each, name, round(old * factor))
    try:
        yield
    finally:
        for each in places:
            setattr(each, name, old)


def sums(evidence: Evidence) -> Sums:
    """Reason and what passes → ms of one trial; empty where it has no account."""
    account = account_table(evidence)
    labels = pl.concat_str("why", pl.lit(" ("), "what", pl.lit(")")).alias("label")
    length = (pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6
    return dict(account.group_by(labels).agg(length).iter_rows())


def moved(before: Sums, after: Sums) -> Moved:
    """The difference of two accounts of one trial."""
    changes = {why: after.get(why, 0.0) - before.get(why, 0.0) for why in {*before, *after}}
    loses, gains = min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)
    whole = sum(abs(each) for each in changes.values()) / 2
    return Moved(100 * whole / sum(before.values()), (loses, gains, min(-changes[loses], changes[gains])))


def trials(study: OpenedStudy, blocks: int) -> Iterator[tuple[str, Evidence]]:
    """(arm, evidence) of the verified trials of the first blocks of each cell."""
    rows = study.table("trials").filter(status="verified")
    for row in rows.filter(pl.col("block").rank("dense").over("cell_id") <= blocks).iter_rows(named=True):
        tables = {name: each for name in TABLES if (each := study.trial_table(name, row["trial_id"])) is not None}
        yield str(row["arm"]), Evidence(tables, read_record(study.directory / "trials" / row["trial_id"]))


def unions(study: OpenedStudy) -> None:
    """Print how many labels are compared as unions, by the share that may be left undecided."""
    known = account_shares.shares(study)
    rows = study.table("trials").filter(status="verified").filter(pl.col("trial_id").is_in([*known.why_ms]))
    for factor in (0.5, 1.0, 2.0):
        taken: defaultdict[str, int] = defaultdict(int)
        cells = 0
        account_shares._UNDECIDED, old = account_shares._UNDECIDED * factor, account_shares._UNDECIDED
        for _, cell in rows.group_by("cell_id"):
            arms = [part["trial_id"].to_list() for _, part in cell.group_by("arm", maintain_order=True)]
            if len(arms) != 2 or len(arms[0]) != len(arms[1]):
                continue
            cells += 1
            ms = np.array([[known.why_ms[trial] for trial in pair] for pair in zip(*arms, strict=True)])
            for label, members in account_shares.categories(ms):
                if len(members) > 1 and str(label) != "set_up":
                    taken[str(label)] += 1
        share, account_shares._UNDECIDED = account_shares._UNDECIDED, old
        told = ", ".join(f"{label} in {count}" for label, count in sorted(taken.items())) or "none"
        print(f"undecided share {100 * share:.1f} %: of {cells} cells unions are {told}")


def prompted(study: OpenedStudy) -> None:
    """Print which share of the packets that ended an idle time left how long after the last arrival at the server."""
    rows = study.table("trials").filter(status="verified").select("trial_id", "arm")
    edges = study.table("account").drop_nulls("prompted_after_ns").filter(pl.col("what") != "payload")
    # All edges of one idle time have the same.
    ends = edges.group_by("trial_id", pl.col("prompted_after_ns").rle_id().over("trial_id").alias("idle")).agg(
        pl.col("prompted_after_ns").first()
    )
    for (arm,), part in ends.join(rows, on="trial_id").group_by("arm", maintain_order=True):
        ms = part["prompted_after_ns"].to_numpy() / 1e6
        shares = ", ".join(f"{limit:g} ms {100 * float((ms <= limit).mean()):.1f} %" for limit in (0.25, 0.5, 1, 2, 4))
        print(f"{arm}: of {len(ms)} idle times of {part['trial_id'].n_unique()} trials ended within {shares}")


def main() -> None:
    """Print everything for each study."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("studies", nargs="+", type=Path)
    parser.add_argument("--blocks", type=int, default=1)
    arguments = parser.parse_args()
    found: defaultdict[tuple[str, float, str], list[Moved]] = defaultdict(list)
    for path in arguments.studies:
        study = OpenedStudy(path)
        prompted(study)
        unions(study)
        for arm, evidence in trials(study, arguments.blocks):
            usual = sums(evidence)
            if not usual:
                continue
            for title, (module, name) in THRESHOLDS.items():
                for factor in FACTORS:
                    with scaled(module, name, factor):
                        found[title, factor, arm.partition("#")[0]].append(moved(usual, sums(evidence)))
    for (title, factor, arm), each in found.items():
        shares = [one.share_pct for one in each]
        if not max(shares):
            continue
        loses, gains, ms = max(each, key=lambda one: one.share_pct).most
        told = f"; there most {loses} → {gains}, {ms:.1f} ms" if ms else ""
        print(
            f"{title}, × {factor:g}, {arm}, {len(each)} trials: "
            f"{np.mean(shares):.2f} % of the time moves, at most {max(shares):.2f} %{told}"
        )


if __name__ == "__main__":
    main()
