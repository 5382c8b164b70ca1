# SPDX-License-Identifier: Apache-2.0
"""Times of trials by block: the whole, a mechanism's share of it, and the parts by *why*, from a study's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.errors import DecodeError
from quiclab.why.account import Why
from quiclab.why.account_shares import FloatArray
from quiclab.why.mechanisms import BY_NAME, MECHANISMS
from quiclab.why.prediction.in_arm import TrialEffect, Without, effects_in

WHYS = tuple(Why)


@dataclass(frozen=True, eq=False)
class Times:
    """Times of one arm in one cell, in ms, one element for each block."""

    total: FloatArray
    """The whole: infinite where the trial failed, NaN where there is none or it has no account."""
    cause: FloatArray
    """Time of the mechanism; NaN where the trial has no account."""
    why: FloatArray
    """Time of each `Why`, in their order: an array (blocks, whys)."""


def times_of(study: OpenedStudy, places: Mapping[str, tuple[str, str]], cause: str) -> dict[str, Times]:
    """Times of a mechanism in some places, (cell, arm) by a name, with the same blocks in all of them.

    Raises DecodeError where the study's accounts do not name mechanisms.
    """
    rows = _counting(study)
    # A study whose trials are all void or failed has no accounts, and is no study of another version.
    whole = _accounts(study, cause) if any(status == "verified" for _, status in rows.values()) else {}
    found = {}
    wanted = set(places.values())
    blocks = sorted({block for (cell, arm, block) in rows if (cell, arm) in wanted})
    for name, (cell, arm) in places.items():
        total, own = np.full(len(blocks), np.nan), np.full(len(blocks), np.nan)
        why = np.full((len(blocks), len(WHYS)), np.nan)
        for at, block in enumerate(blocks):
            trial, status = rows.get((cell, arm, block), ("", ""))
            if status == "verified" and trial in whole:
                why[at], own[at] = whole[trial]
                total[at] = why[at].sum()
            elif status == "failed":
                total[at] = np.inf
        found[name] = Times(total, own, why)
    return found


def pairs_in(study: OpenedStudy, cell: str, arms: tuple[str, str]) -> list[tuple[str, str]]:
    """The trials of each block of a cell in which both arms' last ones are verified."""
    rows = _counting(study)
    blocks = sorted({block for of, _, block in rows if of == cell})
    both = [[rows.get((cell, arm, block), ("", "")) for arm in arms] for block in blocks]
    return [(one, two) for (one, first), (two, second) in both if first == second == "verified"]


def mechanisms_in(study: OpenedStudy, cell: str, arm: str) -> dict[str, FloatArray]:
    """Mechanism → its time in each verified trial of an arm that has an account, in ms.

    One that is a part of others' time has it beside theirs.
    """
    trials = [
        trial
        for (of, by, _), (trial, status) in _counting(study).items()
        if (of, by, status) == (cell, arm, "verified")
    ]
    rows = _totals(study).filter(pl.col("trial_id").is_in(trials))
    known = {trial: at for at, trial in enumerate(rows["trial_id"].unique(maintain_order=True).to_list())}
    found: dict[str, FloatArray] = {}
    named = rows.drop_nulls("mechanism").group_by("trial_id", "mechanism", maintain_order=True)
    sums = named.agg(pl.col("total_ns").sum() / 1e6)
    for trial, mechanism, ms in sums.iter_rows():
        found.setdefault(mechanism, np.zeros(len(known)))[known[trial]] = ms
    for dividing in (each.name for each in MECHANISMS if each.divides is not None):
        for trial, ms in _parts_ms(study, dividing).items():
            if trial in known:
                found.setdefault(dividing, np.zeros(len(known)))[known[trial]] = ms
    return found


def effects_of_arm(study: OpenedStudy, cell: str, arm: str) -> list[Mapping[Without, TrialEffect]]:
    """The predicted effects in each verified trial of an arm."""
    if "predicted_effects" not in study.tables:
        return []
    effects = effects_in(study.table("predicted_effects"), "ttlb_ms")
    counting = _counting(study).items()
    trials = [trial for (of, by, _), (trial, status) in counting if (of, by, status) == (cell, arm, "verified")]
    return [effects.get(trial, {}) for trial in trials]


def _counting(study: OpenedStudy) -> dict[tuple[str, str, int], tuple[str, str]]:
    """(Cell, arm, block) → trial and status of its last attempt, void ones apart."""
    rows = study.trials.filter(pl.col("kind") == "main", pl.col("status") != "void").sort("attempt")
    return {
        (cell, arm, block): (trial, status)
        for cell, arm, block, trial, status in rows.select("cell_id", "arm", "block", "trial_id", "status").iter_rows()
    }


def _totals(study: OpenedStudy) -> pl.DataFrame:
    if "account_totals" not in study.tables or "mechanism" not in study.columns("account_totals"):
        hint = "`quiclab report STUDY --again` makes its tables anew"
        raise DecodeError(f"the tables of {study.directory} name no mechanisms", hint)
    return study.table("account_totals")


def _accounts(study: OpenedStudy, cause: str) -> dict[str, tuple[FloatArray, float]]:
    """Trial → ms of each *why*, and of the mechanism.

    Added up as whole ns: groups come in any order, and what is declared of them is hashed.
    """
    at = {str(why): place for place, why in enumerate(WHYS)}
    sums = _totals(study).group_by("trial_id", "why", "mechanism").agg(pl.col("total_ns").sum())
    found: dict[str, tuple[npt.NDArray[np.int64], int]] = {}
    for trial, why, mechanism, total_ns in sums.iter_rows():
        whys, own_ns = found.get(trial) or (np.zeros(len(WHYS), dtype=np.int64), 0)
        whys[at[why]] += total_ns
        found[trial] = whys, own_ns + total_ns * (mechanism == cause)
    if cause in BY_NAME and BY_NAME[cause].divides is not None:
        parts = _parts_ms(study, cause)
        return {trial: (whys / 1e6, parts.get(trial, 0.0)) for trial, (whys, _) in found.items()}
    return {trial: (whys / 1e6, own_ns / 1e6) for trial, (whys, own_ns) in found.items()}


def _parts_ms(study: OpenedStudy, mechanism: str) -> dict[str, float]:
    """Trial → time of a mechanism that is a part of others' (`Divides`); none where the tables have no such numbers."""
    if "mechanism_facts" not in study.tables:
        return {}
    rows = study.table("mechanism_facts").filter(pl.col("mechanism") == mechanism, pl.col("fact") == "time")
    return dict(rows.drop_nulls("value").select("trial_id", "value").iter_rows())
