# SPDX-License-Identifier: Apache-2.0
"""Keys of a path by which it loses packets: which of them lost those of a cell's trials, and what stays without one.

A cause that the path's losses bring about is put to the test without the key that lost most of the packets. Others stay
in the path, which the plan says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from quiclab.model.number_text import counted, listed
from quiclab.model.tables.drop_reasons import CORRUPTED, DropKind, reasons_of

if TYPE_CHECKING:
    from quiclab.compare.study_tables import OpenedStudy
    from quiclab.study.confirm.choice import Tried

LOSS = "loss"
"""Key that stands for all of them where a mechanism declares its settings."""
_LISTED = "listed"
LOST_BY: Mapping[str, frozenset[str]] = {
    LOSS: frozenset(reasons_of(DropKind.LOSS)) - {_LISTED},
    "drop": frozenset({_LISTED}),
    "corrupt": frozenset(reasons_of(DropKind.CORRUPTION)),
    "block": frozenset(reasons_of(DropKind.BLOCK)),
    "oversize": frozenset(reasons_of(DropKind.SIZE)),
}
"""Key of a path's directions → reasons of the packets that it loses. What a NAT loses is under none: it is no effect of
a direction, and cannot be taken away by itself."""


def packets_lost(study: OpenedStudy, cell: str, arm: str, direction: str) -> dict[str, int]:
    """Packets of one direction that each key lost in the trials of an arm, the most first; those that lost none are
    left out."""
    trials = study.trials.filter(pl.col("kind") == "main", pl.col("cell_id") == cell, pl.col("arm") == arm)
    found = dict.fromkeys(LOST_BY, 0)
    for trial_id in trials.filter(pl.col("status") == "verified")["trial_id"]:
        rows = study.trial_table("link_packets", trial_id)
        if rows is None:
            continue
        rows = rows.filter(pl.col("direction") == direction)
        dropped = rows.filter(pl.col("action") == "dropped")["reason"].drop_nulls()
        lost = [*dropped.to_list(), *[CORRUPTED] * int(rows["corrupted"].sum())]
        for key, reasons in LOST_BY.items():
            found[key] += sum(each in reasons for each in lost)
    return {key: count for key, count in sorted(found.items(), key=lambda each: -each[1]) if count}


def by_what_lost(ways: Sequence[Tried], lost: Mapping[str, int]) -> list[Tried]:
    """The ways to put a mechanism to the test, a path's loss in place of itself by each key that lost packets, the one
    that lost most first; as they are where nothing tells which did."""
    found: list[Tried] = []
    for way in ways:
        is_loss = (way.setting.table, way.setting.key) == ("path", LOSS)
        keys = lost if is_loss and lost else (way.setting.key,)
        found += [replace(way, setting=replace(way.setting, key=key)) for key in keys]
    return found


def stays_without(way: Tried, lost: Mapping[str, int]) -> str:
    """Say which keys of the path stay that lost packets too; "" where none does, or the way is none of these."""
    others = {key: count for key, count in lost.items() if key != way.setting.key}
    if way.setting.table != "path" or way.setting.key not in LOST_BY or not others:
        return ""
    told = listed([f"{key} ({counted(count, 'packet')})" for key, count in others.items()])
    gone = counted(lost.get(way.setting.key, 0), "packet")
    return f"{told} stays in the path, and {way.setting.key} ({gone}) goes: packets that the stored trials lost by each"
